// Products whose sums are short: included by panel_products.h, for sets with Ops::kShortSums, from
// Ops::kShortSumTokens tokens on.
//
// The sum of the columns that share a scale takes 17 bits and more at worst, but with almost all
// activations it fits int16. A set that adds products of int16 pairs then scales and adds it in one
// instruction. A format whose codes stand too high starts its sums that much lower. The integers
// are the same either way.
#pragma once

#include "kernels/panel_units.h"

namespace smol::kernels {
namespace {

template <class Ops, class Format, class Count>
inline constexpr bool kMayBeShort = Ops::kShortSums&& Format::kScaled&& Count::kMost > 2;

// Whether any codes of this format give short sums with a cell's columns of these tokens.
//   peaks [tokens]
template <class Ops, class Format, class Count>
bool has_short_sums(const std::int16_t* peaks, Count count) noexcept {
  if constexpr (!kMayBeShort<Ops, Format, Count>) {
    return false;
  } else {
    constexpr int kLargestCode = std::max(Format::kCodeMax - Format::kOffset, Format::kOffset);
    constexpr int kPeaks = 4 * Format::kScaleGroups / kSumBlock;  // of the columns of a scale
    std::int16_t peak = 0;
    for (std::size_t t = 0; t < count.size(); ++t) {  // this becomes vectors
      peak = std::max(peak, peaks[t]);
    }
    return count.size() >= Ops::kShortSumTokens && peak * kPeaks * kLargestCode <= 32767;
  }
}

// What the sums of a cell start from, one for each scale.
template <class Ops, class Format, class Count>
class ShortSumStarts {
 public:
  //   sums [tokens, kScales] of the columns that share a scale; only read where codes stand too
  //   high
  ShortSumStarts(const std::int16_t* sums, Count count) noexcept {
    if constexpr (Format::kOffset != 0) {
      static_assert(4 * Format::kScaleGroups == kSumBlock);
      for (std::size_t i = 0; i < count.size() * kScales; ++i) {
        starts_[i] = -Format::kOffset * sums[i];
      }
    }
  }

  [[gnu::always_inline]] typename Ops::Vec of(std::size_t token, std::size_t scale) const noexcept {
    if constexpr (Format::kOffset != 0) {
      return Ops::broadcast(&starts_[token * kScales + scale]);
    }
    return Ops::zero();
  }

 private:
  static constexpr std::size_t kScales = Format::kColumns / (4 * Format::kScaleGroups);
  std::array<std::int32_t, Format::kOffset != 0 ? Count::kMost * kScales : 0> starts_;
};

// What a unit is multiplied with, and the sums of a cell that it is added to.
template <class Ops, class Format, class Count>
struct ShortJob {
  const std::int8_t* x;  // [tokens, 256]
  const ShortSumStarts<Ops, Format, Count>& starts;
  typename Ops::Vec (*sums)[kParts<Ops>];  // [tokens]
};

// The unit of the columns from `column` on, with kTokens tokens from `first` on. Their chains of
// products go side by side: each product waits for the one before. kBegins: the sums begin here.
template <std::size_t kTokens, bool kBegins, class Ops, class Format, class Count>
[[gnu::always_inline]] inline void add_short_sums(const ShortJob<Ops, Format, Count>& job,
                                                  const UnitCodesTogether<Ops, Format>& units,
                                                  std::size_t first, std::size_t part,
                                                  std::size_t column) noexcept {
  using U = Unit<Ops, Format>;
  typename Ops::Vec chains[kTokens][U::kTogether];
  for (std::size_t t = 0; t < kTokens; ++t) {
    const auto start = job.starts.of(first + t, column / (4 * Format::kScaleGroups));
    std::fill_n(chains[t], U::kTogether, start);
  }
  const std::int8_t* x = job.x + first * Format::kColumns + column;
  for (std::size_t g = 0; g < U::kGroups; ++g) {
    for (std::size_t t = 0; t < kTokens; ++t) {
      const auto four = Ops::broadcast(x + t * Format::kColumns + 4 * g);
      for (std::size_t i = 0; i < U::kTogether; ++i) {
        chains[t][i] = Ops::add_dots(chains[t][i], units[i].codes[g], four);
      }
    }
  }
  for (std::size_t t = 0; t < kTokens; ++t) {
    auto* sums = job.sums[first + t] + part;
    for (std::size_t i = 0; i < U::kTogether; ++i) {
      const auto before = kBegins ? Ops::zero() : sums[i];
      sums[i] = Ops::add_pairs(before, chains[t][i], units[i].scale);
    }
  }
}

// The unit of the columns from `column` on, with every token.
template <bool kBegins, class Ops, class Format, class Count>
[[gnu::always_inline]] inline void add_unit(const ShortJob<Ops, Format, Count>& job,
                                            const UnitCodesTogether<Ops, Format>& units,
                                            Count count, std::size_t part,
                                            std::size_t column) noexcept {
  constexpr std::size_t kTokens = Ops::kChains / Unit<Ops, Format>::kTogether;
  std::size_t t = 0;
  for (; t + kTokens <= count.size(); t += kTokens) {
    add_short_sums<kTokens, kBegins>(job, units, t, part, column);
  }
  for (; t < count.size(); ++t) {
    add_short_sums<1, kBegins>(job, units, t, part, column);
  }
}

template <std::size_t kUnit, class Ops, class Format, class Count>
[[gnu::always_inline]] inline void multiply_short_unit(
    const CellJob<Ops, Format, Count>& job, std::size_t stage,
    const ShortJob<Ops, Format, Count>& shorts) noexcept {
  using U = Unit<Ops, Format>;
  for_unit_codes<Ops, Format, kUnit>(
      job, stage, [&](UnitCodesTogether<Ops, Format>& units, std::size_t part, std::size_t column) {
        for (std::size_t i = 0; i < U::kTogether; ++i) {
          units[i].scale = Ops::pair_with_zero(units[i].scale);
        }
        if (kUnit == 0 && column == 0) {
          add_unit<kUnit == 0>(shorts, units, job.count, part, column);
        } else {
          add_unit<false>(shorts, units, job.count, part, column);
        }
      });
}

template <class Ops, class Format, class Count, std::size_t... kUnit>
[[gnu::always_inline]] inline void multiply_short_stage(const CellJob<Ops, Format, Count>& job,
                                                        std::size_t stage,
                                                        const ShortJob<Ops, Format, Count>& shorts,
                                                        std::index_sequence<kUnit...>) noexcept {
  (multiply_short_unit<kUnit>(job, stage, shorts), ...);
}

// Every token's sum of scale * (codes - offset) . x over the cell.
//   x_sums [tokens, 16] of each 16 columns
template <class Ops, class Format, class Count>
[[gnu::always_inline]] inline void multiply_short_cell(
    const CellJob<Ops, Format, Count>& job, const std::int16_t* x_sums,
    typename Ops::Vec (*sums)[kParts<Ops>]) noexcept {
  const ShortSumStarts<Ops, Format, Count> starts(x_sums, job.count);
  const ShortJob<Ops, Format, Count> shorts{job.x, starts, sums};
  for (std::size_t stage = 0; stage < Format::kStages; ++stage) {
    multiply_short_stage(job, stage, shorts,
                         std::make_index_sequence<Unit<Ops, Format>::kPerStage>{});
  }
}

}  // namespace
}  // namespace smol::kernels
