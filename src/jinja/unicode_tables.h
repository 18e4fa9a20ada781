// The generated tables behind unicode.h; nobody else includes this.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace smol::jinja::unicode {

// Flags of all code points from `first` up to the next range (bits as `Property` in unicode.h).
struct PropertyRange {
  std::uint32_t first;
  std::uint16_t flags;
};

// first, first + step, ... last map to themselves + delta.
struct CaseRun {
  std::uint32_t first, last, step;
  std::int32_t delta;
};

// One character that maps to several.
struct CaseSpecial {
  std::uint32_t code_point;
  const char32_t* to;
};

struct NamedCharacter {
  std::string_view name;
  std::uint32_t code_point;
};

struct CaseTable {
  std::span<const CaseRun> runs;  // ascending `first`; runs of step 2 may interleave in pairs
  std::span<const CaseSpecial> special;  // ascending
};

std::span<const PropertyRange> properties() noexcept;
CaseTable upper_table() noexcept;
CaseTable lower_table() noexcept;
CaseTable title_table() noexcept;
CaseTable fold_table() noexcept;
// Ascending names.
std::span<const NamedCharacter> names() noexcept;

}  // namespace smol::jinja::unicode
