// What Python's str knows about characters (Unicode 14, as Python 3.11): classes and case mappings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace smol::jinja::unicode {

enum class Property : std::uint16_t {
  Alpha = 1U << 0U,
  Decimal = 1U << 1U,
  Digit = 1U << 2U,
  Numeric = 1U << 3U,
  Space = 1U << 4U,
  Lower = 1U << 5U,
  Upper = 1U << 6U,
  Title = 1U << 7U,
  Printable = 1U << 8U,
  IdStart = 1U << 9U,
  IdContinue = 1U << 10U,
  Cased = 1U << 11U,
  CaseIgnorable = 1U << 12U,
};

bool has(char32_t c, Property property) noexcept;
// str.isspace().
bool is_space(char32_t c) noexcept;
// Alpha, Decimal, Digit or Numeric: str.isalnum().
bool is_alnum(char32_t c) noexcept;
// \w of Python's re.
bool is_word(char32_t c) noexcept;
// The value of a Decimal character, 0 to 9.
int decimal_value(char32_t c) noexcept;

// Full mappings of one character (one to three characters).
std::u32string to_upper(char32_t c);
std::u32string to_lower(char32_t c);
std::u32string to_title(char32_t c);
std::u32string to_fold(char32_t c);

// The character called `name` ("DEGREE SIGN", any case), 0 if it is not among the known ones (those
// up to U+00FF, general punctuation, currency signs, arrows).
char32_t by_name(std::string_view name);

}  // namespace smol::jinja::unicode
