// Q4_K: x ~ scale * q - min in sub-blocks of 32. Scale and minimum come from a least-squares
// search; once both are rounded to six bits under the block's common scales, their neighbours are
// tried as well.
#include "gguf/quantize.h"
#include "gguf/scale_search.h"

namespace smol::gguf {
namespace {

constexpr std::size_t kSubBlock = 32;
constexpr std::size_t kSubBlocks = kSuperBlock / kSubBlock;
constexpr float kLargestCode = 15.0F;
constexpr float kLargestPart = 63.0F;  // scales and minima have six bits

using SubBlock = std::span<const float, kSubBlock>;

struct Line {
  float scale = 0.0F;
  float min = 0.0F;  // at least 0: the value of code 0 is -min
};

struct Sums {
  float x = 0.0F, q = 0.0F, qq = 0.0F, xq = 0.0F;
};

float code_of(float x, float inverse, float min) noexcept {
  return nearest_code((x + min) * inverse, 0.0F, kLargestCode);
}

float squared_error(SubBlock values, Line line) noexcept {
  const float inverse = safe_reciprocal(line.scale);
  float error = 0.0F;
  for (const float x : values) {
    const float difference = line.scale * code_of(x, inverse, line.min) - line.min - x;
    error += difference * difference;
  }
  return error;
}

Sums sums_of_codes(SubBlock values, Line line) noexcept {
  const float inverse = safe_reciprocal(line.scale);
  Sums sums;
  for (const float x : values) {
    const float q = code_of(x, inverse, line.min);
    sums.x += x;
    sums.q += q;
    sums.qq += q * q;
    sums.xq += x * q;
  }
  return sums;
}

// The line of least squares for the codes that `line` gives.
Line refit(SubBlock values, Line line) noexcept {
  constexpr auto kCount = static_cast<float>(kSubBlock);
  const Sums sums = sums_of_codes(values, line);
  const float determinant = kCount * sums.qq - sums.q * sums.q;
  Line fit;
  fit.scale = (kCount * sums.xq - sums.x * sums.q) * safe_reciprocal(determinant);
  fit.min = (fit.scale * sums.q - sums.x) / kCount;
  if (fit.min < 0.0F) {
    fit.min = 0.0F;
    fit.scale = sums.xq * safe_reciprocal(sums.qq);
  }
  return fit;
}

Line search_line(SubBlock values) noexcept {
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  const float min = std::max(0.0F, -*lowest);
  const float range = *highest + min;
  Line best;
  if (!(range > 0.0F)) {
    best.min = min;
    return best;
  }
  float best_error = -1.0F;
  // Steps of the code range: 15 clips nothing; narrower ones trade the extremes for the rest.
  for (float steps = 12.5F; steps < 17.0F; steps += 0.5F) {
    const Line start{range / steps, min};
    const Line fit = refit(values, start);
    const float error = squared_error(values, fit);
    if (fit.scale > 0.0F && (best_error < 0.0F || error < best_error)) {
      best_error = error;
      best = fit;
    }
  }
  return best;
}

// Six-bit parts near the ones wanted, with the smallest error.
ScaleMin round_line(SubBlock values, Line wanted, float d, float dmin) noexcept {
  const float scale = nearest_code(wanted.scale * safe_reciprocal(d), 0.0F, kLargestPart);
  const float min = nearest_code(wanted.min * safe_reciprocal(dmin), 0.0F, kLargestPart);
  ScaleMin best{};
  float best_error = -1.0F;
  for (float s = std::max(0.0F, scale - 1.0F); s <= std::min(kLargestPart, scale + 1.0F); ++s) {
    for (float m = std::max(0.0F, min - 1.0F); m <= std::min(kLargestPart, min + 1.0F); ++m) {
      const float error = squared_error(values, {d * s, dmin * m});
      if (best_error < 0.0F || error < best_error) {
        best_error = error;
        best = {static_cast<std::uint8_t>(s), static_cast<std::uint8_t>(m)};
      }
    }
  }
  return best;
}

void store_codes(BlockQ4K& block, std::size_t sub, SubBlock values, Line line) noexcept {
  const float inverse = safe_reciprocal(line.scale);
  const unsigned shift = sub % 2 == 0 ? 0U : 4U;
  for (std::size_t l = 0; l < kSubBlock; ++l) {
    const auto code = static_cast<unsigned>(code_of(values[l], inverse, line.min));
    std::uint8_t& both = block.qs[kSubBlock * (sub / 2) + l];
    both = static_cast<std::uint8_t>(both | (code << shift));
  }
}

}  // namespace

BlockQ4K quantize_q4k(std::span<const float, kSuperBlock> values) noexcept {
  const auto part = [&](std::size_t sub) {
    return SubBlock(values.data() + kSubBlock * sub, kSubBlock);
  };
  std::array<Line, kSubBlocks> lines{};
  Line largest;
  for (std::size_t sub = 0; sub < kSubBlocks; ++sub) {
    lines[sub] = search_line(part(sub));
    largest.scale = std::max(largest.scale, lines[sub].scale);
    largest.min = std::max(largest.min, lines[sub].min);
  }
  BlockQ4K block{};
  block.d = saturated_half(largest.scale / kLargestPart);
  block.dmin = saturated_half(largest.min / kLargestPart);
  const float d = f16_to_f32(block.d);
  const float dmin = f16_to_f32(block.dmin);
  std::array<ScaleMin, kSubBlocks> rounded{};
  for (std::size_t sub = 0; sub < kSubBlocks; ++sub) {
    rounded[sub] = round_line(part(sub), lines[sub], d, dmin);
    const Line line{d * static_cast<float>(rounded[sub].scale),
                    dmin * static_cast<float>(rounded[sub].min)};
    store_codes(block, sub, part(sub), line);
  }
  block.scales = pack_k4(rounded);
  return block;
}

}  // namespace smol::gguf
