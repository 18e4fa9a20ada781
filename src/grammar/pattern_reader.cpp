#include "grammar/pattern_reader.h"

#include "base/error.h"
#include "base/utf8.h"

namespace smol::grammar {
namespace {

bool is_single(const CharSet& set) {
  return set.size() == 1 && set[0].first == set[0].last;
}

std::optional<char32_t> control_escape(char32_t letter) {
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

}  // namespace

void PatternReader::fail(const std::string& what) const {
  throw Error(ErrorCode::BadInput,
              what + " at byte " + std::to_string(at_) + " of the regular expression");
}

void PatternReader::refuse(const std::string& what) const {
  throw Error(ErrorCode::Unsupported, what + " at byte " + std::to_string(at_) +
                                          " of the regular expression is not supported");
}

bool PatternReader::take(std::string_view expected) {
  if (!text_.substr(at_).starts_with(expected)) {
    return false;
  }
  at_ += expected.size();
  return true;
}

char32_t PatternReader::character() {
  if (!more()) {
    fail("unexpected end");
  }
  const utf8::Step step = utf8::next(text_.substr(at_));
  at_ += step.length;
  return step.code_point;
}

CharSet PatternReader::parse_class() {
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

CharSet PatternReader::class_atom() {
  if (take("\\")) {
    return parse_escape(true);
  }
  const char32_t literal = character();
  return {{literal, literal}};
}

std::optional<char32_t> PatternReader::parse_hex(std::size_t n_digits) {
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

char32_t PatternReader::parse_unicode_escape() {
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

std::optional<CharSet> PatternReader::class_escape(char32_t letter) const {
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

char32_t PatternReader::other_escape(char32_t letter, bool in_class) {
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

CharSet PatternReader::parse_escape(bool in_class) {
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

}  // namespace smol::grammar
