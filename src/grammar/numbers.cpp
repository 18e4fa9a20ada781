#include "grammar/numbers.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/error.h"

namespace smol::grammar {
namespace {

constexpr int kMaxDigits = 400;
constexpr std::uint64_t kMaxModulus = 2'000;

// Lengths of equal texts aside, digits compare as texts.
int compare_sizes(const Decimal& a, const Decimal& b) noexcept {
  if (a.integer.size() != b.integer.size()) {
    return a.integer.size() < b.integer.size() ? -1 : 1;
  }
  if (const int order = a.integer.compare(b.integer); order != 0) {
    return order;
  }
  return a.fraction.compare(b.fraction);
}

// Expressions for the numbers of one sign, their sizes compared with a bound's.
class SizeRegex {
 public:
  explicit SizeRegex(RegexPool& pool) : pool_(pool) {
    digit_ = pool.one_of(digits());
    any_digits_ = pool.repeat(digit_, 0, RegexPool::kUnbounded);
    integer_ = pool.either({pool.text("0"), pool.concat(pool.one_of({{'1', '9'}}), any_digits_)});
    fraction_ = pool.concat(pool.text("."), pool.repeat(digit_, 1, RegexPool::kUnbounded));
  }

  Regex whole() const { return integer_; }

  Regex decimal() const { return pool_.concat(integer_, pool_.repeat(fraction_, 0, 1)); }

  Regex with_exponent() const {
    const Regex sign = pool_.repeat(pool_.one_of({{'+', '+'}, {'-', '-'}}), 0, 1);
    const Regex size =
        pool_.either({pool_.repeat(digit_, 1, 2),
                      pool_.concat(pool_.one_of({{'1', '2'}}), pool_.repeat(digit_, 2, 2))});
    return pool_.concat(decimal(), pool_.repeat(pool_.concat(pool_.one_of({{'E', 'E'}, {'e', 'e'}}),
                                                             pool_.concat(sign, size)),
                                                0, 1));
  }

  // A digit other than 0 before any exponent.
  Regex not_zero() const {
    const Regex mantissa =
        pool_.repeat(pool_.one_of({{'.', '.'}, {'0', '9'}}), 0, RegexPool::kUnbounded);
    return pool_.concat(mantissa, pool_.concat(pool_.one_of({{'1', '9'}}), pool_.anything()));
  }

  Regex at_least(const NumberBound& bound) const { return compared(bound, true); }

  Regex at_most(const NumberBound& bound) const { return compared(bound, false); }

 private:
  Regex digits_between(char first, char last) const {
    return first > last
               ? pool_.nothing()
               : pool_.one_of({{static_cast<char32_t>(first), static_cast<char32_t>(last)}});
  }

  // A digit larger (or smaller) than the bound's at the same place.
  Regex beyond(char digit, bool larger) const {
    return larger ? digits_between(static_cast<char>(digit + 1), '9')
                  : digits_between('0', static_cast<char>(digit - 1));
  }

  // Behind an equal integer part: what remains, the point included.
  Regex compared_fraction(const NumberBound& bound, bool larger) const {
    const Regex zeros = pool_.repeat(pool_.text("0"), 0, RegexPool::kUnbounded);
    std::vector<Regex> rest;
    if (!larger) {  // the bound's digits and no more; less than the bound unless nothing is left
      rest.push_back(bound.exclusive ? pool_.nothing() : zeros);
    } else if (bound.exclusive) {
      rest.push_back(pool_.concat(zeros, pool_.concat(digits_between('1', '9'), any_digits_)));
    } else {
      rest.push_back(any_digits_);
    }
    Regex behind = rest[0];
    const std::string& fraction = bound.value.fraction;
    for (std::size_t i = fraction.size(); i-- > 0;) {
      std::vector<Regex> options{
          pool_.concat(pool_.text(std::string_view(fraction).substr(i, 1)), behind),
          pool_.concat(beyond(fraction[i], larger), any_digits_)};
      if (!larger) {
        options.push_back(pool_.empty());  // the fraction ends early: smaller
      }
      behind = pool_.either(options);
    }
    std::vector<Regex> options{pool_.both({fraction_, pool_.concat(pool_.text("."), behind)})};
    const bool ends_here =
        larger ? fraction.empty() && !bound.exclusive : !fraction.empty() || !bound.exclusive;
    if (ends_here) {
      options.push_back(pool_.empty());
    }
    return pool_.either(options);
  }

  Regex compared(const NumberBound& bound, bool larger) const {
    const std::string& whole = bound.value.integer;
    const Regex any_fraction = pool_.repeat(fraction_, 0, 1);
    Regex behind = compared_fraction(bound, larger);
    for (std::size_t i = whole.size(); i-- > 0;) {
      const auto rest = static_cast<std::uint32_t>(whole.size() - 1 - i);
      behind = pool_.either(
          {pool_.concat(pool_.text(std::string_view(whole).substr(i, 1)), behind),
           pool_.concat(beyond(whole[i], larger),
                        pool_.concat(pool_.repeat(digit_, rest, rest), any_fraction))});
    }
    const auto length = static_cast<std::uint32_t>(whole.size());
    const Regex other_length =
        larger ? pool_.repeat(digit_, length + 1, RegexPool::kUnbounded)
               : (length > 1 ? pool_.repeat(digit_, 1, length - 1) : pool_.nothing());
    return pool_.both(
        {decimal(), pool_.either({behind, pool_.concat(other_length, any_fraction)})});
  }

  RegexPool& pool_;
  Regex digit_, any_digits_, integer_, fraction_;
};

NumberBound negated(NumberBound bound) {
  bound.value.negative = !bound.value.negative;
  return bound;
}

// The sizes of one sign: at least `min`, at most `max`, where these have that sign.
Regex sizes(RegexPool& pool, const std::optional<NumberBound>& min,
            const std::optional<NumberBound>& max, const NumberRules& rules) {
  const SizeRegex regex(pool);
  const bool zero_only = (!min || min->value.is_zero()) && (!max || max->value.is_zero());
  if (max && max->value.negative && !max->value.is_zero()) {
    return pool.nothing();
  }
  std::vector<Regex> all;
  const bool plain = !zero_only || max || !rules.multiples_of.empty();
  all.push_back(rules.integer ? regex.whole() : plain ? regex.decimal() : regex.with_exponent());
  if (min && (!min->value.negative || min->value.is_zero())) {
    if (!min->value.is_zero()) {
      all.push_back(regex.at_least(*min));
    } else if (min->exclusive) {
      all.push_back(regex.not_zero());
    }
  }
  if (max) {
    all.push_back(regex.at_most(*max));
  }
  return pool.both(all);
}

// value * 10^places as an integer below kMaxModulus, or 0.
std::uint64_t scaled(const Decimal& value, std::size_t places) {
  std::string digits = value.integer + value.fraction;
  digits.append(places - value.fraction.size(), '0');
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && number <= kMaxModulus ? number : 0;
}

// What a multiple's automaton knows: the remainder of the digits so far, and how many stood behind
// the point (-1: before it).
struct MultipleState {
  std::uint32_t base;
  std::uint64_t remainder;
  int places;
  friend auto operator<=>(const MultipleState&, const MultipleState&) = default;
};

class MultipleProduct {
 public:
  MultipleProduct(const CharDfa& base, const Decimal& multiple, StepBudget& budget)
      : base_(base),
        budget_(budget),
        places_(static_cast<int>(multiple.fraction.size())),
        modulus_(scaled(multiple, multiple.fraction.size())) {
    if (modulus_ == 0) {
      throw Error(ErrorCode::Unsupported, "a multiple of " + multiple.text() +
                                              " is not supported: its digits are above " +
                                              std::to_string(kMaxModulus));
    }
  }

  CharDfa build() {
    CharDfa dfa;
    // Classes: a digit each, '-', '.', all others.
    dfa.segments = {{0, 12}, {'-', 10}, {'.', 11}, {'/', 12}};
    for (std::uint32_t digit = 0; digit < 10; ++digit) {
      dfa.segments.push_back({'0' + digit, digit});
    }
    dfa.segments.push_back({':', 12});
    dfa.n_classes = 13;
    number_of({0, 0, -1});
    std::size_t n_done = 0;
    while (n_done < states_.size()) {
      budget_.spend(13);
      const MultipleState state = states_[n_done++];
      dfa.accepts.push_back(accepts(state));
      for (std::uint32_t c = 0; c < 13; ++c) {
        dfa.next.push_back(number_of(next(state, c)));
      }
    }
    return trim(dfa);
  }

 private:
  static constexpr MultipleState kSink{CharDfa::kNone, 0, 0};

  std::uint32_t number_of(const MultipleState& state) {
    const auto [found, is_new] =
        numbers_.try_emplace(state, static_cast<std::uint32_t>(states_.size()));
    if (is_new) {
      if (states_.size() > RegexPool::kMaxStates) {
        throw Error(ErrorCode::Exhausted, "the multiple needs too many states");
      }
      states_.push_back(state);
    }
    return found->second;
  }

  bool accepts(const MultipleState& state) const {
    if (state.base == CharDfa::kNone || !base_.accepts[state.base]) {
      return false;
    }
    std::uint64_t remainder = state.remainder;
    for (int place = std::max(state.places, 0); place < places_; ++place) {
      remainder = remainder * 10 % modulus_;
    }
    return remainder == 0;
  }

  MultipleState next(const MultipleState& state, std::uint32_t class_id) const {
    if (state.base == CharDfa::kNone || class_id == 12) {
      return kSink;
    }
    const char32_t character = class_id == 10 ? U'-' : class_id == 11 ? U'.' : U'0' + class_id;
    MultipleState result = state;
    result.base = base_.target(state.base, character);
    if (result.base == CharDfa::kNone) {
      return kSink;
    }
    if (class_id == 11) {
      result.places = 0;
    } else if (class_id < 10 && state.places >= places_) {
      if (class_id != 0) {
        return kSink;
      }
    } else if (class_id < 10) {
      result.remainder = (state.remainder * 10 + class_id) % modulus_;
      result.places = state.places < 0 ? -1 : state.places + 1;
    }
    return result;
  }

  const CharDfa& base_;
  StepBudget& budget_;
  int places_;
  std::uint64_t modulus_;
  std::map<MultipleState, std::uint32_t> numbers_;
  std::vector<MultipleState> states_;
};

}  // namespace

std::string Decimal::text() const {
  return (negative ? "-" : "") + integer + (fraction.empty() ? "" : "." + fraction);
}

std::optional<Decimal> parse_decimal(std::string_view json_number) {
  Decimal value;
  value.negative = json_number.starts_with('-');
  json_number.remove_prefix(value.negative ? 1 : 0);
  const std::size_t e = std::min(json_number.find_first_of("eE"), json_number.size());
  const std::string_view mantissa = json_number.substr(0, e);
  int exponent = 0;
  if (e < json_number.size()) {
    std::string_view digits = json_number.substr(e + 1);
    digits.remove_prefix(digits.starts_with('+') ? 1 : 0);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (parsed.ec != std::errc() || exponent < -kMaxDigits || exponent > kMaxDigits) {
      return std::nullopt;
    }
  }
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  std::string whole(mantissa.substr(0, point));
  std::string fraction(point < mantissa.size() ? mantissa.substr(point + 1) : "");
  if (whole.size() > kMaxDigits || fraction.size() > kMaxDigits) {
    return std::nullopt;
  }
  for (; exponent > 0; --exponent) {
    whole += fraction.empty() ? '0' : fraction[0];
    fraction.erase(0, 1);
  }
  for (; exponent < 0; ++exponent) {
    fraction.insert(fraction.begin(), whole.empty() ? '0' : whole.back());
    whole.resize(whole.empty() ? 0 : whole.size() - 1);
  }
  whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size()));
  fraction.erase(fraction.find_last_not_of('0') + 1);
  value.integer = whole.empty() ? "0" : whole;
  value.fraction = fraction;
  value.negative = value.negative && !value.is_zero();
  return value;
}

int compare(const Decimal& a, const Decimal& b) noexcept {
  if (a.negative != b.negative) {
    return a.negative ? -1 : 1;
  }
  return a.negative ? compare_sizes(b, a) : compare_sizes(a, b);
}

void NumberRules::add_min(const NumberBound& bound) {
  const int order = min ? compare(bound.value, min->value) : 1;
  if (order > 0 || (order == 0 && bound.exclusive)) {
    min = bound;
  }
}

void NumberRules::add_max(const NumberBound& bound) {
  const int order = max ? compare(bound.value, max->value) : -1;
  if (order < 0 || (order == 0 && bound.exclusive)) {
    max = bound;
  }
}

bool NumberRules::allows(const Decimal& value, StepBudget& budget) const {
  if (integer && !value.is_integer()) {
    return false;
  }
  if (min && compare(value, min->value) < (min->exclusive ? 1 : 0)) {
    return false;
  }
  if (max && compare(value, max->value) > (max->exclusive ? -1 : 0)) {
    return false;
  }
  NumberRules rest;
  rest.multiples_of = multiples_of;
  return multiples_of.empty() || number_automaton(rest, budget).matches(value.text());
}

CharDfa number_automaton(const NumberRules& rules, StepBudget& budget) {
  RegexPool pool(budget);
  const auto mirrored = [](const std::optional<NumberBound>& bound) {
    return bound ? std::optional(negated(*bound)) : std::nullopt;
  };
  const Regex positive = sizes(pool, rules.min, rules.max, rules);
  const Regex negative = sizes(pool, mirrored(rules.max), mirrored(rules.min), rules);
  CharDfa dfa = pool.automaton(pool.either({positive, pool.concat(pool.text("-"), negative)}));
  for (const Decimal& multiple : rules.multiples_of) {
    if (!dfa.empty()) {
      dfa = MultipleProduct(dfa, multiple, budget).build();
    }
  }
  return dfa;
}

}  // namespace smol::grammar
