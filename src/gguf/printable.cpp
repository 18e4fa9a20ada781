#include "gguf/printable.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace smol::gguf {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

void append_hex_byte(std::string& out, unsigned char byte) {
  out += "\\x";
  out += kHexDigits[byte >> 4U];
  out += kHexDigits[byte & 15U];
}

void append_hex_point(std::string& out, char32_t point) {
  std::string digits;
  for (auto rest = static_cast<std::uint32_t>(point); rest > 0; rest >>= 4U) {
    digits.insert(digits.begin(), kHexDigits[rest & 15U]);
  }
  out += "\\u{" + digits + "}";
}

bool is_invisible_control(char32_t point) {
  const bool c1 = point >= 0x80 && point <= 0x9F;
  const bool separator = point == 0x2028 || point == 0x2029 || point == 0xFEFF;
  const bool direction = (point >= 0x202A && point <= 0x202E) ||
                         (point >= 0x2066 && point <= 0x2069) || point == 0x200E ||
                         point == 0x200F || point == 0x061C;
  return c1 || separator || direction;
}

void append_ascii(std::string& out, char character) {
  switch (character) {
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\\':
      out += "\\\\";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(character);
  if (byte < 0x20 || byte == 0x7F) {
    append_hex_byte(out, byte);
  } else {
    out += character;
  }
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const utf8::Step step = utf8::next(text.substr(at));
    if (at + step.length > max_bytes) {
      return out + "...";
    }
    if (step.kind != utf8::Step::Kind::Character) {
      for (const char byte : text.substr(at, step.length)) {
        append_hex_byte(out, static_cast<unsigned char>(byte));
      }
    } else if (step.code_point < 0x80) {
      append_ascii(out, text[at]);
    } else if (is_invisible_control(step.code_point)) {
      append_hex_point(out, step.code_point);
    } else {
      out += text.substr(at, step.length);
    }
    at += step.length;
  }
  return out;
}

}  // namespace smol::gguf
