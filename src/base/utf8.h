// UTF-8 as Unicode 15, section 3.9 (table 3-7) defines it: no overlong forms, no surrogates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace smol::utf8 {

inline constexpr char32_t kReplacement = 0xFFFD;

// What stands at the start of a text.
struct Step {
  enum class Kind {
    Character,   // `code_point` in `length` bytes
    Invalid,     // a maximal invalid subpart of `length` bytes (one U+FFFD, as Unicode advises)
    Incomplete,  // the text ends inside a so far valid sequence: all `length` bytes of it
  };
  Kind kind;
  char32_t code_point;  // kReplacement unless Character
  std::size_t length;   // bytes, at least 1
};

// Requires: `text` is not empty.
Step next(std::string_view text) noexcept;

bool is_valid(std::string_view text) noexcept;
void append(std::string& out, char32_t code_point);
// `text` with U+FFFD for each maximal invalid subpart, an incomplete tail included.
std::string to_valid(std::string_view text);
// Code points in `text`; each maximal invalid subpart counts as one.
std::size_t length(std::string_view text) noexcept;

}  // namespace smol::utf8
