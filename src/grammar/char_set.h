// Sets of Unicode code points as sorted ranges.
#pragma once

#include <cstdint>
#include <vector>

namespace smol::grammar {

inline constexpr char32_t kMaxCodePoint = 0x10FFFF;

struct CharRange {
  char32_t first, last;
  friend bool operator==(const CharRange&, const CharRange&) = default;
  friend auto operator<=>(const CharRange&, const CharRange&) = default;
};

// Sorted, disjoint, not adjacent.
using CharSet = std::vector<CharRange>;

// The set of all ranges, in any order and overlapping.
CharSet make_set(std::vector<CharRange> ranges);
// All code points but these.
CharSet complement(const CharSet& set);
bool contains(const CharSet& set, char32_t code_point) noexcept;

// ECMA-262: \d \w \s and what `.` stands for.
CharSet digits();
CharSet word_characters();
CharSet white_space();
CharSet not_line_ends();
CharSet any_character();

}  // namespace smol::grammar
