#include "jinja/number_parse.h"

#include <charconv>
#include <limits>
#include <string>

#include "jinja/fault.h"
#include "jinja/strings.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

namespace smol::jinja {
namespace {

// Without white space around, decimal digits of any script as ASCII.
std::string plain_number(std::string_view text) {
  const Range range = strip_range(
      text, Side::Both, [](char32_t c) { return unicode::has(c, unicode::Property::Space); });
  std::string result;
  for (const char32_t c : decode(text.substr(range.begin, range.end - range.begin))) {
    if (c < 0x80) {
      result += static_cast<char>(c);
    } else {
      result += unicode::has(c, unicode::Property::Decimal)
                    ? static_cast<char>('0' + unicode::decimal_value(c))
                    : '?';
    }
  }
  return result;
}

int digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const auto lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
}

// Digits with single underscores between them -> digits; empty: malformed.
std::string checked_digits(std::string_view text, int base, bool leading_underscore) {
  std::string digits;
  bool underscore = !leading_underscore;  // may none stand here
  for (const char c : text) {
    if (c == '_' && !underscore) {
      underscore = true;
      continue;
    }
    if (digit_of(c) >= base) {
      return {};
    }
    underscore = false;
    digits += c;
  }
  return underscore ? std::string() : digits;
}

int prefix_base(std::string_view digits) noexcept {
  if (digits.size() < 2 || digits[0] != '0') {
    return 0;
  }
  switch (digits[1] | 0x20) {
    case 'b':
      return 2;
    case 'o':
      return 8;
    case 'x':
      return 16;
    default:
      return 0;
  }
}

bool is_float_syntax(std::string_view text) noexcept {
  bool digit = false;
  bool point = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      digit = true;
    } else if (c == '.' && !point) {
      point = true;
    } else if ((c == 'e' || c == 'E') && digit) {
      const std::size_t sign =
          i + 1 < text.size() && (text[i + 1] == '+' || text[i + 1] == '-') ? 2 : 1;
      const std::string_view exponent = text.substr(i + sign);
      return !exponent.empty() &&
             exponent.find_first_not_of("0123456789") == std::string_view::npos;
    } else {
      return false;
    }
  }
  return digit;
}

// Underscores only between digits.
bool remove_underscores(std::string& text) {
  std::string result;
  const auto digit = [&text](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      result += text[i];
    } else if (i == 0 || !digit(i - 1) || !digit(i + 1)) {
      return false;
    }
  }
  text = std::move(result);
  return true;
}

}  // namespace

Value parse_integer(std::string_view text, std::int64_t base) {
  const auto fail = [&]() {
    raise_value("invalid literal for int() with base " + std::to_string(base) + ": " + quote(text));
  };
  constexpr std::int64_t kLargestBase = 36;
  if (base != 0 && (base < 2 || base > kLargestBase)) {
    raise_value("int() base must be >= 2 and <= 36, or 0");
  }
  const std::string number = plain_number(text);
  std::string_view rest = number;
  const bool negative = !rest.empty() && rest[0] == '-';
  rest.remove_prefix(!rest.empty() && (rest[0] == '-' || rest[0] == '+') ? 1 : 0);
  const int prefix = prefix_base(rest);
  const bool prefixed = prefix != 0 && (base == 0 || base == prefix);
  const auto radix = static_cast<int>(base != 0 ? base : (prefix != 0 ? prefix : 10));
  rest.remove_prefix(prefixed ? 2 : 0);
  const std::string digits = checked_digits(rest, radix, prefixed);
  const bool old_octal = base == 0 && !prefixed && digits.size() > 1 && digits[0] == '0' &&
                         digits.find_first_not_of('0') != std::string::npos;
  if (digits.empty() || old_octal) {
    fail();
  }
  const BigInt magnitude = BigInt::from_digits(digits, static_cast<unsigned>(radix));
  return Value::integer(negative ? -magnitude : magnitude);
}

double parse_float(std::string_view text) {
  std::string number = plain_number(text);
  const bool negative = !number.empty() && number[0] == '-';
  number.erase(0, !number.empty() && (number[0] == '-' || number[0] == '+') ? 1 : 0);
  std::string lower = number;
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  }
  double value = 0;
  if (lower == "inf" || lower == "infinity") {
    value = std::numeric_limits<double>::infinity();
  } else if (lower == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (!remove_underscores(number) || !is_float_syntax(number)) {
    raise_value("could not convert string to float: " + quote(text));
  } else {
    const auto result = std::from_chars(number.data(), number.data() + number.size(), value);
    if (result.ec == std::errc::result_out_of_range) {
      const std::size_t e = number.find_first_of("eE");
      const bool tiny = e != std::string::npos && number[e + 1] == '-';
      value = tiny ? 0.0 : std::numeric_limits<double>::infinity();
    }
  }
  return negative ? -value : value;
}

}  // namespace smol::jinja
