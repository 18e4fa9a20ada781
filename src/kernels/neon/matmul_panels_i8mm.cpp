// Products of panels with smmla: two tokens by two rows by eight columns an instruction, twice what
// sdot multiplies. The codes of two groups, zipped once for all tokens of a block, are its operand.
// A single token goes through sdot, which needs no zips.
#include <algorithm>
#include <arm_neon.h>
#include <array>
#include <cstring>
#include <utility>

#include "kernels/neon/ops.h"
#include "kernels/panel.h"
#include "kernels/panel_factors.h"
#include "kernels/target_region.h"

SMOL_TARGET_BEGIN("arch=armv8.2-a+dotprod+i8mm")

#include "kernels/neon/panel_ops.h"
#include "kernels/panel_formats.h"
#include "kernels/panel_products.h"

namespace smol::kernels {
namespace {

// NEON's, with a multiply_cell() of its own below.
struct I8mmOps : NeonOps {};

// Four rows by two tokens as smmla leaves them: rows 0 and 1 with the first token, then with the
// second; rows 2 and 3 likewise.
struct FourByTwo {
  int32x4_t upper, lower;
};

// A unit's codes of four rows as smmla takes them: for each eight columns those of rows 0 and 1,
// and of rows 2 and 3; and the rows' scales, twice.
template <class Format>
struct ZippedCodes {
  static constexpr std::size_t kGroups = Unit<I8mmOps, Format>::kGroups;
  static constexpr std::size_t kEights = kGroups / 2;
  // Vectors of four rows that meet the same columns: their codes fill half of the registers.
  static constexpr std::size_t kTogether = 16 / kGroups;

  int8x16_t upper[kEights], lower[kEights];
  FourByTwo scales;
};

// The first or second two lanes of a, then those of b.
inline int32x4_t first_halves(int32x4_t a, int32x4_t b) noexcept {
  return vreinterpretq_s32_s64(vzip1q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
}

inline int32x4_t second_halves(int32x4_t a, int32x4_t b) noexcept {
  return vreinterpretq_s32_s64(vzip2q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
}

template <class Format, std::size_t kUnit, class Count>
[[gnu::always_inline]] inline ZippedCodes<Format> load_zipped_codes(
    const CellJob<I8mmOps, Format, Count>& job, std::size_t stage, std::size_t part) noexcept {
  using Codes = ZippedCodes<Format>;
  int32x4_t groups[Codes::kGroups];
  load_codes<I8mmOps, Format, Codes::kGroups * kUnit>(*job.cells[0], stage, part, groups,
                                                      std::make_index_sequence<Codes::kGroups>{});
  Codes out;
  for (std::size_t e = 0; e < Codes::kEights; ++e) {
    out.upper[e] = vreinterpretq_s8_s32(vzip1q_s32(groups[2 * e], groups[2 * e + 1]));
    out.lower[e] = vreinterpretq_s8_s32(vzip2q_s32(groups[2 * e], groups[2 * e + 1]));
  }
  if constexpr (Format::kScaled) {
    const CellScales& bytes = job.scales[0][Unit<I8mmOps, Format>::kPerStage * stage + kUnit];
    const auto rows = I8mmOps::spread_scales<Format::kSignedScales>(bytes.data(), part);
    out.scales = {first_halves(rows, rows), second_halves(rows, rows)};
  }
  return out;
}

// For each eight columns those of one token, then of another.
template <std::size_t kEights>
[[gnu::always_inline]] inline void zip_columns(const std::int8_t* first, const std::int8_t* second,
                                               int8x16_t* out) noexcept {
  for (std::size_t e = 0; e < kEights; e += 2) {
    const int64x2_t a = vreinterpretq_s64_s8(vld1q_s8(first + 8 * e));
    const int64x2_t b = vreinterpretq_s64_s8(vld1q_s8(second + 8 * e));
    out[e] = vreinterpretq_s8_s64(vzip1q_s64(a, b));
    out[e + 1] = vreinterpretq_s8_s64(vzip2q_s64(a, b));
  }
}

template <class Format>
[[gnu::always_inline]] inline FourByTwo multiply_two_tokens(const ZippedCodes<Format>& codes,
                                                            const int8x16_t* columns) noexcept {
  FourByTwo sums{vdupq_n_s32(0), vdupq_n_s32(0)};
  for (std::size_t e = 0; e < ZippedCodes<Format>::kEights; ++e) {
    sums.upper = vmmlaq_s32(sums.upper, columns[e], codes.upper[e]);
    sums.lower = vmmlaq_s32(sums.lower, columns[e], codes.lower[e]);
  }
  return sums;
}

// Calls take(first token, part, codes, sums) for every two tokens, of which the second may be one
// too many: the last of an odd count is multiplied with itself.
template <class Format, std::size_t kUnit, class Count, class Take>
[[gnu::always_inline]] inline void multiply_zipped_unit(const CellJob<I8mmOps, Format, Count>& job,
                                                        std::size_t stage,
                                                        const Take& take) noexcept {
  using Codes = ZippedCodes<Format>;
  prefetch_ahead<I8mmOps, Format, kUnit>(*job.cells[0], stage, job.count);
  const std::int8_t* x =
      job.x + Format::kColumns / Format::kStages * stage + 4 * Codes::kGroups * kUnit;
  for (std::size_t part = 0; part < kParts<I8mmOps>; part += Codes::kTogether) {
    Codes codes[Codes::kTogether];
    for (std::size_t i = 0; i < Codes::kTogether; ++i) {
      codes[i] = load_zipped_codes<Format, kUnit>(job, stage, part + i);
    }
    for (std::size_t t = 0; t < job.count.size(); t += 2) {
      const std::size_t second = std::min(t + 1, job.count.size() - 1);
      int8x16_t columns[Codes::kEights];
      zip_columns<Codes::kEights>(x + t * Format::kColumns, x + second * Format::kColumns, columns);
      for (std::size_t i = 0; i < Codes::kTogether; ++i) {
        take(t, part + i, codes[i], multiply_two_tokens(codes[i], columns));
      }
    }
  }
}

template <class Format, class Count, class Take, std::size_t... kUnit>
[[gnu::always_inline]] inline void multiply_zipped_stage(const CellJob<I8mmOps, Format, Count>& job,
                                                         std::size_t stage, const Take& take,
                                                         std::index_sequence<kUnit...>) noexcept {
  (multiply_zipped_unit<Format, kUnit>(job, stage, take), ...);
}

// A cell's sums of two tokens to the sink.
template <class Sink>
[[gnu::always_inline]] inline void pass_on_two(const Sink& sink, std::size_t t, std::size_t count,
                                               std::size_t part, const FourByTwo& sums) noexcept {
  const int32x4_t first = first_halves(sums.upper, sums.lower);
  sink.take(t, part, vaddq_s32(sink.before(t, part), first));
  if (t + 1 < count) {
    const int32x4_t second = second_halves(sums.upper, sums.lower);
    sink.take(t + 1, part, vaddq_s32(sink.before(t + 1, part), second));
  }
}

// Scaled sums wait as smmla leaves them and are put in the order of rows once a cell.
template <class Format, class Count, class Sink>
[[gnu::always_inline]] inline void multiply_scaled_cell(const CellJob<I8mmOps, Format, Count>& job,
                                                        const Sink& sink) noexcept {
  FourByTwo sums[Count::kMost / 2][kParts<I8mmOps>];
  const std::size_t count = job.count.size();
  for (std::size_t t = 0; t < count; t += 2) {
    std::fill_n(sums[t / 2], kParts<I8mmOps>, FourByTwo{vdupq_n_s32(0), vdupq_n_s32(0)});
  }
  const auto add = [&sums](std::size_t t, std::size_t part, const ZippedCodes<Format>& codes,
                           const FourByTwo& products) {
    FourByTwo& sum = sums[t / 2][part];
    sum.upper = vmlaq_s32(sum.upper, products.upper, codes.scales.upper);
    sum.lower = vmlaq_s32(sum.lower, products.lower, codes.scales.lower);
  };
  for (std::size_t stage = 0; stage < Format::kStages; ++stage) {
    multiply_zipped_stage(job, stage, add,
                          std::make_index_sequence<Unit<I8mmOps, Format>::kPerStage>{});
  }
  for (std::size_t t = 0; t < count; t += 2) {
    for (std::size_t part = 0; part < kParts<I8mmOps>; ++part) {
      pass_on_two(sink, t, count, part, sums[t / 2][part]);
    }
  }
}

// A single token stays with the products of panel_products.h.
template <class Count>
concept SeveralTokens = (Count::kMost > 1);

// What panel_products.h calls for this set, being more specialized than its own.
template <class Format, SeveralTokens Count, class Sink>
[[gnu::always_inline]] inline void multiply_cell(const CellJob<I8mmOps, Format, Count>& job,
                                                 const Sink& sink) noexcept {
  if constexpr (Format::kScaled) {
    multiply_scaled_cell(job, sink);
  } else {
    multiply_zipped_unit<Format, 0>(
        job, 0, [&](std::size_t t, std::size_t part, const auto& /*codes*/, const FourByTwo& sums) {
          pass_on_two(sink, t, job.count.size(), part, sums);
        });
  }
}

}  // namespace
}  // namespace smol::kernels

SMOL_TARGET_END

namespace smol::kernels::neon {

MatMul matmul_panels_i8mm(gguf::DType weights) noexcept {
  return panel_products<I8mmOps>(weights);
}

}  // namespace smol::kernels::neon
