#include "grammar/ecma_pattern.h"

#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/utf8.h"

namespace smol::grammar {
namespace {

constexpr std::size_t kMaxPatternBytes = 8'192;
constexpr int kMaxPatternDepth = 64;
constexpr std::uint32_t kMaxRepetitions = 10'000;

// Expressions are built from the right: each part is given all that follows it, so that a
// lookahead can be an intersection with the rest of the text.
using Tail = std::function<Regex(Regex)>;

class PatternParser {
 public:
  PatternParser(RegexPool& pool, std::string_view pattern) : pool_(pool), text_(pattern) {}

  Regex parse() {
    const Tail whole = parse_options(0);
    if (at_ < text_.size()) {
      fail("unmatched )");
    }
    const Regex matched = whole(pool_.anything());
    return pool_.concat(pool_.anything(), matched);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::BadInput,
                what + " at byte " + std::to_string(at_) + " of the regular expression");
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorCode::Unsupported, what + " at byte " + std::to_string(at_) +
                                            " of the regular expression is not supported");
  }

  bool more() const { return at_ < text_.size(); }

  bool take(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) {
      return false;
    }
    at_ += expected.size();
    return true;
  }

  char32_t character() {
    if (!more()) {
      fail("unexpected end");
    }
    const utf8::Step step = utf8::next(text_.substr(at_));
    at_ += step.length;
    return step.code_point;
  }

  Tail parse_options(int depth) {
    if (depth > kMaxPatternDepth) {
      refuse("nesting deeper than " + std::to_string(kMaxPatternDepth));
    }
    std::vector<Tail> options{parse_sequence(depth)};
    while (take("|")) {
      options.push_back(parse_sequence(depth));
    }
    if (options.size() == 1) {
      return options[0];
    }
    return [this, options](Regex rest) {
      std::vector<Regex> built;
      for (const Tail& option : options) {
        built.push_back(option(rest));
      }
      return pool_.either(std::move(built));
    };
  }

  Tail parse_sequence(int depth) {
    std::vector<Tail> terms;
    while (more() && text_[at_] != '|' && text_[at_] != ')') {
      terms.push_back(parse_term(depth));
    }
    return [terms](Regex rest) {
      for (std::size_t i = terms.size(); i-- > 0;) {
        rest = terms[i](rest);
      }
      return rest;
    };
  }

  Tail simple(Regex regex) {
    return [this, regex](Regex rest) { return pool_.concat(regex, rest); };
  }

  Tail parse_term(int depth) {
    if (take("^")) {
      return simple(pool_.begin());
    }
    if (take("$")) {
      return simple(pool_.end());
    }
    if (take("(?=")) {
      return parse_lookahead(depth, false);
    }
    if (take("(?!")) {
      return parse_lookahead(depth, true);
    }
    if (text_.substr(at_).starts_with("(?<=") || text_.substr(at_).starts_with("(?<!")) {
      refuse("lookbehind");
    }
    const std::size_t lookaheads = n_lookaheads_;
    const Tail atom = text_[at_] == '(' ? parse_group(depth) : simple(parse_atom());
    return parse_quantifier(atom, lookaheads != n_lookaheads_);
  }

  Tail parse_lookahead(int depth, bool negative) {
    ++n_lookaheads_;
    const Tail inner = parse_options(depth + 1);
    if (!take(")")) {
      fail("missing )");
    }
    return [this, inner, negative](Regex rest) {
      const Regex ahead = inner(pool_.anything());
      return pool_.both({negative ? pool_.except(ahead) : ahead, rest});
    };
  }

  Tail parse_group(int depth) {
    ++at_;
    if (take("?:")) {
    } else if (take("?<")) {
      while (more() && text_[at_] != '>') {
        ++at_;
      }
      if (!take(">")) {
        fail("unfinished name of a group");
      }
    } else if (more() && text_[at_] == '?') {
      fail("unknown kind of group");
    }
    Tail inner = parse_options(depth + 1);
    if (!take(")")) {
      fail("missing )");
    }
    return inner;
  }

  std::optional<std::uint32_t> parse_count() {
    std::optional<std::uint32_t> count;
    while (more() && text_[at_] >= '0' && text_[at_] <= '9') {
      count = count.value_or(0) * 10 + static_cast<std::uint32_t>(text_[at_++] - '0');
      if (*count > kMaxRepetitions) {
        refuse("a repetition above " + std::to_string(kMaxRepetitions));
      }
    }
    return count;
  }

  struct Range {
    std::uint32_t min, max;
  };

  std::optional<Range> parse_range() {
    if (take("*")) {
      return Range{0, RegexPool::kUnbounded};
    }
    if (take("+")) {
      return Range{1, RegexPool::kUnbounded};
    }
    if (take("?")) {
      return Range{0, 1};
    }
    if (!take("{")) {
      return std::nullopt;
    }
    const auto min = parse_count();
    if (!min) {
      fail("expected a number behind {");
    }
    Range range{*min, *min};
    if (take(",")) {
      range.max = parse_count().value_or(RegexPool::kUnbounded);
    }
    if (!take("}")) {
      fail("missing }");
    }
    if (range.max < range.min) {
      fail("numbers out of order in {}");
    }
    return range;
  }

  Tail parse_quantifier(const Tail& atom, bool has_lookahead) {
    const auto range = parse_range();
    if (!range) {
      return atom;
    }
    take("?");  // lazy or greedy: the same texts
    if (more() && (text_[at_] == '*' || text_[at_] == '+' || text_[at_] == '?')) {
      fail("nothing to repeat");
    }
    if (has_lookahead) {
      refuse("a repeated lookahead");
    }
    return simple(pool_.repeat(atom(pool_.empty()), range->min, range->max));
  }

  Regex parse_atom() {
    if (take(".")) {
      return pool_.one_of(not_line_ends());
    }
    if (take("[")) {
      return pool_.one_of(parse_class());
    }
    if (take("\\")) {
      return pool_.one_of(parse_escape(false));
    }
    const char found = text_[at_];
    if (found == '*' || found == '+' || found == '?') {
      fail("nothing to repeat");
    }
    const char32_t literal = character();
    return pool_.one_of({{literal, literal}});
  }

  CharSet parse_class() {
    const bool negated = take("^");
    std::vector<CharRange> ranges;
    while (!take("]")) {
      const CharSet first = class_atom();
      if (!text_.substr(at_).starts_with("-") || text_.substr(at_).starts_with("-]")) {
        ranges.insert(ranges.end(), first.begin(), first.end());
        continue;
      }
      ++at_;
      const CharSet last = class_atom();
      if (!is_single(first) || !is_single(last)) {  // [\w-.]: the hyphen is itself
        ranges.insert(ranges.end(), first.begin(), first.end());
        ranges.insert(ranges.end(), last.begin(), last.end());
        ranges.push_back({'-', '-'});
        continue;
      }
      if (last[0].first < first[0].first) {
        fail("range out of order");
      }
      ranges.push_back({first[0].first, last[0].first});
    }
    const CharSet set = make_set(std::move(ranges));
    return negated ? complement(set) : set;
  }

  static bool is_single(const CharSet& set) {
    return set.size() == 1 && set[0].first == set[0].last;
  }

  CharSet class_atom() {
    if (take("\\")) {
      return parse_escape(true);
    }
    const char32_t literal = character();
    return {{literal, literal}};
  }

  std::optional<char32_t> parse_hex(std::size_t n_digits) {
    if (at_ + n_digits > text_.size()) {
      return std::nullopt;
    }
    char32_t value = 0;
    for (std::size_t i = 0; i < n_digits; ++i) {
      const char digit = text_[at_ + i];
      const char32_t lower = static_cast<unsigned char>(digit) | 0x20U;
      if (digit >= '0' && digit <= '9') {
        value = value * 16 + static_cast<char32_t>(digit - '0');
      } else if (lower >= 'a' && lower <= 'f') {
        value = value * 16 + (lower - 'a') + 10;
      } else {
        return std::nullopt;
      }
    }
    at_ += n_digits;
    return value;
  }

  char32_t parse_unicode_escape() {
    if (take("{")) {
      char32_t value = 0;
      bool any = false;
      while (const auto digit = parse_hex(1)) {
        value = value * 16 + *digit;
        any = true;
        if (value > kMaxCodePoint) {
          fail("code point above 10FFFF");
        }
      }
      if (!any || !take("}")) {
        fail("bad \\u{}");
      }
      return value;
    }
    const auto high = parse_hex(4);
    if (!high) {
      fail("bad \\u");
    }
    const bool is_high = *high >= 0xD800 && *high <= 0xDBFF;
    if (is_high && take("\\u")) {
      const auto low = parse_hex(4);
      if (low && *low >= 0xDC00 && *low <= 0xDFFF) {
        return 0x10000 + ((*high - 0xD800) << 10U) + (*low - 0xDC00);
      }
      fail("bad surrogate pair");
    }
    return *high;
  }

  std::optional<CharSet> class_escape(char32_t letter) {
    switch (letter) {
      case 'd':
        return digits();
      case 'D':
        return complement(digits());
      case 'w':
        return word_characters();
      case 'W':
        return complement(word_characters());
      case 's':
        return white_space();
      case 'S':
        return complement(white_space());
      case 'p':
      case 'P':
        refuse("\\p");
      default:
        return std::nullopt;
    }
  }

  static std::optional<char32_t> control_escape(char32_t letter) {
    switch (letter) {
      case 'n':
        return U'\n';
      case 'r':
        return U'\r';
      case 't':
        return U'\t';
      case 'v':
        return U'\v';
      case 'f':
        return U'\f';
      default:
        return std::nullopt;
    }
  }

  char32_t other_escape(char32_t letter, bool in_class) {
    if (letter == 'u') {
      return parse_unicode_escape();
    }
    if (letter == 'x') {
      const auto value = parse_hex(2);
      return value ? *value : letter;
    }
    if (letter == 'c' && more()) {
      return character() & 0x1FU;
    }
    if (letter == 'b' && in_class) {
      return U'\b';
    }
    if (letter == '0') {
      return 0;
    }
    if ((letter >= '1' && letter <= '9') || letter == 'k') {
      refuse("a back reference");
    }
    if (letter == 'b' || letter == 'B') {
      refuse("\\b");
    }
    return letter;  // an identity escape; letters, too, as without flag u
  }

  CharSet parse_escape(bool in_class) {
    const char32_t letter = character();
    if (auto set = class_escape(letter)) {
      return std::move(*set);
    }
    if (const auto control = control_escape(letter)) {
      return {{*control, *control}};
    }
    const char32_t value = other_escape(letter, in_class);
    return {{value, value}};
  }

  RegexPool& pool_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t n_lookaheads_ = 0;
};

}  // namespace

Regex parse_pattern(RegexPool& pool, std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    throw Error(ErrorCode::Unsupported, "a regular expression longer than " +
                                            std::to_string(kMaxPatternBytes) +
                                            " bytes is not supported");
  }
  if (!utf8::is_valid(pattern)) {
    throw Error(ErrorCode::BadInput, "the regular expression is no UTF-8");
  }
  return PatternParser(pool, pattern).parse();
}

}  // namespace smol::grammar
