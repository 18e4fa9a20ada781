#include "jinja/literals.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/utf8.h"
#include "jinja/fault.h"
#include "jinja/unicode.h"

namespace smol::jinja {
namespace {

bool is_decimal_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

bool is_digit_of(char c, unsigned base) noexcept {
  const auto lower = static_cast<char>(c | 0x20);
  return base <= 10 ? c >= '0' && c < static_cast<char>('0' + base)
                    : is_decimal_digit(c) || (lower >= 'a' && lower <= 'f');
}

std::string without_underscores(std::string_view text) {
  std::string result(text);
  result.erase(std::remove(result.begin(), result.end(), '_'), result.end());
  return result;
}

// (_?DIGIT)* at `at`; returns its end.
std::size_t more_digits(std::string_view text, std::size_t at, unsigned base) noexcept {
  for (;;) {
    const std::size_t digit = at < text.size() && text[at] == '_' ? at + 1 : at;
    if (digit >= text.size() || !is_digit_of(text[digit], base)) {
      return at;
    }
    at = digit + 1;
  }
}

// (\d+_)*\d+ at `at`; returns its end, or `at` if there is no digit.
std::size_t digits(std::string_view text, std::size_t at) noexcept {
  return at < text.size() && is_decimal_digit(text[at]) ? more_digits(text, at + 1, 10) : at;
}

class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  std::string read() {
    while (at_ < text_.size()) {
      const std::size_t backslash = std::min(text_.find('\\', at_), text_.size());
      out_.append(text_.substr(at_, backslash - at_));
      at_ = backslash;
      if (at_ < text_.size()) {
        read_escape();
      }
    }
    return out_;
  }

 private:
  void read_escape() {
    const std::size_t begin = at_++;
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    static constexpr std::string_view kFrom = "\\'\"abfnrtv";
    static constexpr std::string_view kTo = "\\'\"\a\b\f\n\r\t\v";
    if (const std::size_t simple = kFrom.find(c); c != '\0' && simple != std::string_view::npos) {
      out_ += kTo[simple];
      ++at_;
    } else if (c == '\n') {
      ++at_;
    } else if (c >= '0' && c <= '7') {
      read_octal();
    } else if (c == 'x' || c == 'u' || c == 'U') {
      ++at_;
      read_hex(c == 'x' ? 2 : (c == 'u' ? 4 : 8), c);
    } else if (c == 'N') {
      ++at_;
      read_name();
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      read_escaped_beyond_ascii();
    } else {
      out_.append(text_.substr(begin, 1));
    }
  }

  void read_octal() {
    char32_t value = 0;
    for (int i = 0; i < 3 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7'; ++i) {
      value = value * 8 + static_cast<char32_t>(text_[at_++] - '0');
    }
    utf8::append(out_, value);
  }

  void append_code(char32_t code) {
    // Python keeps halves of surrogate pairs apart; UTF-8 cannot.
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    utf8::append(out_, surrogate ? utf8::kReplacement : code);
  }

  void read_hex(std::size_t count, char kind) {
    const std::string_view digits = text_.substr(at_, count);
    std::uint32_t code = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != count || error != std::errc() || end != digits.data() + count) {
      raise_value(std::string("truncated \\") + kind + std::string(count, 'X') + " escape");
    }
    if (code > 0x10FFFF) {
      raise_value("illegal Unicode character");
    }
    at_ += count;
    append_code(code);
  }

  void read_name() {
    const std::size_t close = text_.find('}', at_);
    if (at_ >= text_.size() || text_[at_] != '{' || close == std::string_view::npos) {
      raise_value("malformed \\N character escape");
    }
    const char32_t code = unicode::by_name(text_.substr(at_ + 1, close - at_ - 1));
    if (code == 0) {
      raise_value("unknown Unicode character name");
    }
    at_ = close + 1;
    append_code(code);
  }

  // Jinja writes characters beyond ASCII as \xe9 before it unescapes: after a backslash, that
  // escape itself is escaped and stays.
  void read_escaped_beyond_ascii() {
    const auto step = utf8::next(text_.substr(at_));
    const auto code = static_cast<std::uint32_t>(step.code_point);
    std::string hex = "00000000";
    for (std::size_t i = 0; i < hex.size(); ++i) {
      hex[hex.size() - 1 - i] = "0123456789abcdef"[code >> (4 * i) & 0xFU];
    }
    out_ += code <= 0xFF ? "\\x" + hex.substr(6)
                         : (code <= 0xFFFF ? "\\u" + hex.substr(4) : "\\U" + hex);
    at_ += step.length;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string unescape_literal(std::string_view text) {
  return LiteralReader(text).read();
}

std::size_t match_float(std::string_view text) noexcept {
  const std::size_t whole = digits(text, 0);
  if (whole == 0) {
    return 0;
  }
  std::size_t end = whole;
  if (end < text.size() && text[end] == '.' && digits(text, end + 1) > end + 1) {
    end = digits(text, end + 1);
  }
  if (end < text.size() && (text[end] | 0x20) == 'e') {
    const bool sign = end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-');
    const std::size_t exponent = end + (sign ? 2 : 1);
    end = digits(text, exponent) > exponent ? digits(text, exponent) : end;
  }
  return end > whole ? end : 0;
}

std::size_t match_integer(std::string_view text) noexcept {
  if (text.empty() || !is_decimal_digit(text[0])) {
    return 0;
  }
  if (text[0] != '0') {
    return more_digits(text, 1, 10);
  }
  const auto kind = static_cast<char>(text.size() > 1 ? text[1] | 0x20 : '\0');
  const unsigned base = kind == 'b' ? 2 : (kind == 'o' ? 8 : (kind == 'x' ? 16 : 1));
  const std::size_t end = base > 1 ? more_digits(text, 2, base) : 2;
  return end > 2 ? end : more_digits(text, 1, 1);  // base 1: only zeros
}

Value float_literal(std::string_view text) {
  const std::string plain = without_underscores(text);
  double value = 0;
  const auto result = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (result.ec == std::errc::result_out_of_range) {
    const std::size_t e = plain.find_first_of("eE");
    const bool tiny = e != std::string::npos && plain[e + 1] == '-';
    value = tiny ? 0.0 : std::numeric_limits<double>::infinity();
  }
  return Value::number(value);
}

Value integer_literal(std::string_view text) {
  const std::string plain = without_underscores(text);
  const auto kind = static_cast<char>(plain.size() > 1 && plain[0] == '0' ? plain[1] | 0x20 : '\0');
  const unsigned base = kind == 'b' ? 2 : (kind == 'o' ? 8 : (kind == 'x' ? 16 : 10));
  return Value::integer(
      BigInt::from_digits(std::string_view(plain).substr(base == 10 ? 0 : 2), base));
}

}  // namespace smol::jinja
