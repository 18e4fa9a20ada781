// The character classes of the pre-tokenizer patterns and of added tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/unicode_tables.h"

namespace smol::text::unicode {

// A set of these; the table generator writes the same bits.
inline constexpr std::uint8_t kLetter = 1;   // \p{L}
inline constexpr std::uint8_t kNumber = 2;   // \p{N} of the regex patterns
inline constexpr std::uint8_t kSpace = 4;    // \s
inline constexpr std::uint8_t kNumeric = 8;  // what the Digits pre-tokenizer splits off
inline constexpr std::uint8_t kWord = 16;    // \w

inline constexpr std::size_t kBlockSize = 128;

// Requires: code_point <= 0x10FFFF.
constexpr std::uint8_t classes_of(char32_t code_point) noexcept {
  return kFlags[kBlockOf[code_point / kBlockSize] * kBlockSize + code_point % kBlockSize];
}

struct Character {
  char32_t code_point;
  std::uint8_t classes;
  std::uint8_t length;  // bytes
};

// The character that starts at text[at]. Requires: valid UTF-8, `at` on a border before the end.
inline Character character_at(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char lead = byte(0);
  const auto tail = [&](std::size_t i) { return static_cast<char32_t>(byte(i) & 0x3FU); };
  if (lead < 0x80) {
    return {lead, kFlags[kBlockOf[0] * kBlockSize + lead], 1};
  }
  if (lead < 0xE0) {
    const char32_t point = (lead & 0x1FU) << 6U | tail(1);
    return {point, classes_of(point), 2};
  }
  if (lead < 0xF0) {
    const char32_t point = (lead & 0x0FU) << 12U | tail(1) << 6U | tail(2);
    return {point, classes_of(point), 3};
  }
  const char32_t point = (lead & 0x07U) << 18U | tail(1) << 12U | tail(2) << 6U | tail(3);
  return {point, classes_of(point), 4};
}

// Start of the character that ends before text[at]. Requires: valid UTF-8, at > 0.
inline std::size_t previous_start(std::string_view text, std::size_t at) noexcept {
  do {
    --at;
  } while ((static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U);
  return at;
}

}  // namespace smol::text::unicode
