#include "chat/literal.h"

#include <cstdint>

#include "base/utf8.h"

namespace smol::chat {
namespace {

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

bool is_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_high_surrogate(char32_t unit) noexcept {
  return unit >= 0xD800 && unit < 0xDC00;
}

bool is_low_surrogate(char32_t unit) noexcept {
  return unit >= 0xDC00 && unit < 0xE000;
}

// The character of a one-letter escape that JSON has, or nothing.
std::optional<char> json_escape(char letter) noexcept {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const std::size_t found = kLetters.find(letter);
  return found == std::string_view::npos ? std::nullopt : std::optional(kMeanings[found]);
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (const std::size_t found = kSpecial.find(c); found != std::string_view::npos) {
    out += '\\';
    out += kLetters[found];
  } else if (byte < 0x20) {
    out += "\\u00";
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  } else {
    out += c;
  }
}

}  // namespace

std::string json_quote(std::string_view text) {
  if (!utf8::is_valid(text)) {
    return json_quote(utf8::to_valid(text));
  }
  std::string out = "\"";
  for (const char c : text) {
    append_escaped(out, c);
  }
  out += '"';
  return out;
}

void LiteralReader::skip_space() noexcept {
  constexpr std::string_view kJsonSpace = " \t\n\r";
  while (at_ < text_.size() && kJsonSpace.find(text_[at_]) != std::string_view::npos) {
    ++at_;
  }
}

bool LiteralReader::next_is(char c) noexcept {
  skip_space();
  return at_ < text_.size() && text_[at_] == c;
}

bool LiteralReader::accept(char c) noexcept {
  const bool found = next_is(c);
  at_ += found ? 1 : 0;
  return found;
}

bool LiteralReader::at_end() noexcept {
  skip_space();
  return at_ == text_.size();
}

std::optional<Literal> LiteralReader::read_value() {
  skip_space();
  const std::size_t begin = at_;
  strict_ = true;
  Literal out;
  if (begin < text_.size() && (text_[begin] == '"' || text_[begin] == '\'')) {
    auto string = read_string();
    if (!string) {
      return std::nullopt;
    }
    out.kind = Literal::Kind::String;
    out.string = std::move(*string);
    out.json = json_quote(out.string);
  } else {
    const auto kind = value(out.json, 0);
    if (!kind) {
      return std::nullopt;
    }
    out.kind = *kind;
  }
  const std::string_view source = text_.substr(begin, at_ - begin);
  if (strict_ && utf8::is_valid(source)) {
    out.json = source;
  }
  return out;
}

std::optional<Literal::Kind> LiteralReader::value(std::string& json, std::size_t depth) {
  skip_space();
  if (at_ == text_.size() || depth > kMaxLiteralDepth) {
    return std::nullopt;
  }
  const char c = text_[at_];
  if (c == '{') {
    return object(json, depth) ? std::optional(Literal::Kind::Object) : std::nullopt;
  }
  if (c == '[') {
    return list(json, depth) ? std::optional(Literal::Kind::List) : std::nullopt;
  }
  if (c == '"' || c == '\'') {
    const auto string = read_string();
    if (!string) {
      return std::nullopt;
    }
    json += json_quote(*string);
    return Literal::Kind::String;
  }
  if (is_word(c)) {
    return word(json);
  }
  return number(json) ? std::optional(Literal::Kind::Number) : std::nullopt;
}

bool LiteralReader::object(std::string& json, std::size_t depth) {
  accept('{');
  json += '{';
  for (bool first = true; !accept('}'); first = false) {
    if (!first) {
      if (!accept(',')) {
        return false;
      }
      if (accept('}')) {
        strict_ = false;
        break;
      }
      json += ", ";
    }
    skip_space();
    const auto key = read_string();
    if (!key || !accept(':')) {
      return false;
    }
    json += json_quote(*key) + ": ";
    if (!value(json, depth + 1)) {
      return false;
    }
  }
  json += '}';
  return true;
}

bool LiteralReader::list(std::string& json, std::size_t depth) {
  accept('[');
  json += '[';
  for (bool first = true; !accept(']'); first = false) {
    if (!first) {
      if (!accept(',')) {
        return false;
      }
      if (accept(']')) {
        strict_ = false;
        break;
      }
      json += ", ";
    }
    if (!value(json, depth + 1)) {
      return false;
    }
  }
  json += ']';
  return true;
}

std::size_t LiteralReader::skip_digits() noexcept {
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_digit(text_[at_])) {
    ++at_;
  }
  return at_ - begin;
}

bool LiteralReader::number(std::string& json) {
  const auto next = [&](std::string_view any) {
    return at_ < text_.size() && any.find(text_[at_]) != std::string_view::npos;
  };
  const std::size_t begin = at_;
  at_ += next("-") ? 1 : 0;
  const bool leading_zero = next("0");
  const std::size_t digits = skip_digits();
  if (digits == 0 || (leading_zero && digits > 1)) {
    return false;
  }
  if (next(".")) {
    ++at_;
    if (skip_digits() == 0) {
      return false;
    }
  }
  if (next("eE")) {
    ++at_;
    at_ += next("+-") ? 1 : 0;
    if (skip_digits() == 0) {
      return false;
    }
  }
  json += text_.substr(begin, at_ - begin);
  return true;
}

std::optional<Literal::Kind> LiteralReader::word(std::string& json) {
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_word(text_[at_])) {
    ++at_;
  }
  const std::string_view found = text_.substr(begin, at_ - begin);
  if (found == "True" || found == "False" || found == "None") {
    strict_ = false;
  }
  if (found == "true" || found == "True") {
    json += "true";
    return Literal::Kind::Boolean;
  }
  if (found == "false" || found == "False") {
    json += "false";
    return Literal::Kind::Boolean;
  }
  if (found == "null" || found == "None") {
    json += "null";
    return Literal::Kind::Null;
  }
  return std::nullopt;
}

std::optional<std::string> LiteralReader::read_string() {
  if (at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) {
    return std::nullopt;
  }
  const char quote = text_[at_++];
  strict_ = strict_ && quote == '"';
  std::string out;
  while (at_ < text_.size() && text_[at_] != quote) {
    const char c = text_[at_++];
    if (c == '\\') {
      if (!escape(out)) {
        return std::nullopt;
      }
      continue;
    }
    strict_ = strict_ && static_cast<unsigned char>(c) >= 0x20;
    out += c;
  }
  if (at_ == text_.size()) {
    return std::nullopt;
  }
  ++at_;
  return out;
}

bool LiteralReader::escape(std::string& out) {
  if (at_ == text_.size()) {
    return false;
  }
  const char letter = text_[at_++];
  if (letter == 'u') {
    return unicode_escape(out);
  }
  if (const auto meaning = json_escape(letter)) {
    out += *meaning;
    return true;
  }
  strict_ = false;
  if (letter == '\'') {
    out += '\'';
    return true;
  }
  if (letter == 'x' || letter == 'U') {
    const auto code_point = hex(letter == 'x' ? 2 : 8);
    if (!code_point || *code_point > 0x10FFFF) {
      return false;
    }
    const bool is_surrogate = is_high_surrogate(*code_point) || is_low_surrogate(*code_point);
    utf8::append(out, is_surrogate ? utf8::kReplacement : *code_point);
    return true;
  }
  if (letter == '\n') {
    return true;  // Python: a line that goes on
  }
  out += '\\';  // Python keeps an escape that it does not know
  out += letter;
  return true;
}

bool LiteralReader::unicode_escape(std::string& out) {
  const auto unit = hex(4);
  if (!unit) {
    return false;
  }
  char32_t code_point = *unit;
  if (is_high_surrogate(*unit) && text_.substr(at_, 2) == "\\u") {
    const std::size_t after_first = at_;
    at_ += 2;
    const auto second = hex(4);
    if (second && is_low_surrogate(*second)) {
      code_point = 0x10000 + ((*unit - 0xD800) << 10U) + (*second - 0xDC00);
    } else {
      at_ = after_first;
    }
  }
  if (is_high_surrogate(code_point) || is_low_surrogate(code_point)) {
    strict_ = false;  // half of a pair is no character
    code_point = utf8::kReplacement;
  }
  utf8::append(out, code_point);
  return true;
}

std::optional<char32_t> LiteralReader::hex(std::size_t digits) noexcept {
  constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const std::size_t found =
        at_ < text_.size() ? kDigits.find(text_[at_]) : std::string_view::npos;
    if (found == std::string_view::npos) {
      return std::nullopt;
    }
    ++at_;
    value = value * 16 + static_cast<std::uint32_t>(found < 16 ? found : found - 6);
  }
  return static_cast<char32_t>(value);
}

}  // namespace smol::chat
