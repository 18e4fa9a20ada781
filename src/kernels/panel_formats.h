// The codes of a cell, four columns of every row in a vector. Included by matmul_panels.cpp of each
// instruction set inside its target region, before panel_products.h, so that the templates compile
// for that set; the unnamed namespace keeps each copy to its own file.
//
// A stage is a stretch of columns whose codes lie in the same bytes; groups count four columns
// each, from the first of the stage. `part` counts the vectors that make up 16 rows.
#pragma once

namespace smol::kernels {
namespace {

struct Q4KFormat {
  using Cell = CellQ4K;
  static constexpr std::size_t kColumns = 256;
  static constexpr std::size_t kStages = 4;
  static constexpr std::size_t kScaleGroups = 8;  // groups that share a scale
  static constexpr int kCodeMax = 15;
  static constexpr bool kSigned = false;
  static constexpr bool kScaled = true;  // integer scales, unsigned bytes where not kSignedScales
  static constexpr bool kSignedScales = false;
  static constexpr bool kMinimum = true;  // a second term with its own factor
  static constexpr int kOffset = 0;       // what codes stand too high

  template <class Ops, std::size_t kGroup>
  [[gnu::always_inline]] static typename Ops::Vec codes(const Cell& cell, std::size_t stage,
                                                        std::size_t part) noexcept {
    const auto both = Ops::load(cell.qs[stage][kGroup % 8].data() + part * Ops::kBytes);
    return Ops::template bits < kGroup < 8 ? 0 : 4, 15 > (both);
  }
};

struct Q6KFormat {
  using Cell = CellQ6K;
  static constexpr std::size_t kColumns = 256;
  static constexpr std::size_t kStages = 2;
  static constexpr std::size_t kScaleGroups = 4;
  static constexpr int kCodeMax = 63;
  static constexpr bool kSigned = false;
  static constexpr bool kScaled = true;
  static constexpr bool kSignedScales = true;
  static constexpr bool kMinimum = false;
  static constexpr int kOffset = 32;

  template <class Ops, std::size_t kGroup>
  [[gnu::always_inline]] static typename Ops::Vec codes(const Cell& cell, std::size_t stage,
                                                        std::size_t part) noexcept {
    constexpr std::size_t kQuarter = kGroup / 8;
    const CellQ6K::Group& group = cell.codes[stage][kGroup % 8];
    const CellGroup& low = kQuarter % 2 == 0 ? group.low0 : group.low1;
    const auto nibbles = Ops::template bits < kQuarter / 2 == 0 ? 0 : 4,
               15 > (Ops::load(low.data() + part * Ops::kBytes));
    const auto high = Ops::load(group.high.data() + part * Ops::kBytes);
    return Ops::either(nibbles, Ops::template bits<2 * static_cast<int>(kQuarter) - 4, 0x30>(high));
  }
};

// Blocks of 32 columns: one stage of eight groups, no integer scales.
struct SmallFormat {
  static constexpr std::size_t kColumns = 32;
  static constexpr std::size_t kStages = 1;
  static constexpr std::size_t kScaleGroups = 8;
  static constexpr int kCodeMax = 15;
  static constexpr bool kSigned = false;
  static constexpr bool kScaled = false;
  static constexpr bool kSignedScales = false;
  static constexpr bool kMinimum = false;
};

// Nibbles: the low ones are the first 16 columns.
template <class Ops, std::size_t kGroup, class Cell>
[[gnu::always_inline]] inline typename Ops::Vec nibble_codes(const Cell& cell,
                                                             std::size_t part) noexcept {
  const auto both = Ops::load(cell.qs[kGroup % 4].data() + part * Ops::kBytes);
  return Ops::template bits < kGroup < 4 ? 0 : 4, 15 > (both);
}

struct Q40Format : SmallFormat {
  using Cell = CellQ40;
  static constexpr int kOffset = 8;

  template <class Ops, std::size_t kGroup>
  [[gnu::always_inline]] static typename Ops::Vec codes(const Cell& cell, std::size_t,
                                                        std::size_t part) noexcept {
    return nibble_codes<Ops, kGroup>(cell, part);
  }
};

struct Q41Format : SmallFormat {
  using Cell = CellQ41;
  static constexpr bool kMinimum = true;
  static constexpr int kOffset = 0;

  template <class Ops, std::size_t kGroup>
  [[gnu::always_inline]] static typename Ops::Vec codes(const Cell& cell, std::size_t,
                                                        std::size_t part) noexcept {
    return nibble_codes<Ops, kGroup>(cell, part);
  }
};

struct Q50Format : SmallFormat {
  using Cell = CellQ50;
  static constexpr int kCodeMax = 31;
  static constexpr int kOffset = 16;

  template <class Ops, std::size_t kGroup>
  [[gnu::always_inline]] static typename Ops::Vec codes(const Cell& cell, std::size_t,
                                                        std::size_t part) noexcept {
    const auto fifth = Ops::load(cell.fifth.data() + part * Ops::kBytes);
    return Ops::either(nibble_codes<Ops, kGroup>(cell, part),
                       Ops::template bits<static_cast<int>(kGroup) - 4, 16>(fifth));
  }
};

// Sets whose products take unsigned codes only see them 128 higher.
struct Q80Format : SmallFormat {
  using Cell = CellQ80;
  static constexpr bool kSigned = true;
  static constexpr int kCodeMax = 128;
  static constexpr int kOffset = 0;

  template <class Ops, std::size_t kGroup>
  [[gnu::always_inline]] static typename Ops::Vec codes(const Cell& cell, std::size_t,
                                                        std::size_t part) noexcept {
    const auto signed_codes = Ops::load(cell.qs[kGroup].data() + part * Ops::kBytes);
    if constexpr (Ops::kFlipsSigned) {
      return Ops::flip_signs(signed_codes);
    } else {
      return signed_codes;
    }
  }
};

}  // namespace
}  // namespace smol::kernels
