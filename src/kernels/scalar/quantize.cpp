// Activations -> int8 with one scale a block.
#include <algorithm>
#include <cstdlib>

#include "kernels/math.h"
#include "kernels/scalar/ops.h"

namespace smol::kernels::scalar {
namespace {

// As integers, magnitudes order like the values and NaN comes above infinity.
float largest_magnitude(std::span<const float> x) noexcept {
  std::uint32_t largest = 0;
  for (const float value : x) {
    largest = std::max(largest, std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU);
  }
  return std::bit_cast<float>(largest);
}

std::int16_t peak_of(std::span<const std::int8_t> codes) noexcept {
  int peak = 0;
  for (std::size_t i = 0; i < codes.size(); i += kSumBlock) {
    int sum = 0;
    for (const std::int8_t code : codes.subspan(i, kSumBlock)) {
      sum += std::abs(code);
    }
    peak = std::max(peak, sum);
  }
  return static_cast<std::int16_t>(peak);
}

void quantize(std::span<const float> x, std::size_t block, const QuantizedRow& out) noexcept {
  for (std::size_t b = 0; b < x.size() / block; ++b) {
    const auto values = x.subspan(b * block, block);
    const BlockScale scale = block_scale(largest_magnitude(values));
    out.scales[b * out.n_tokens] = scale.scale;
    std::int8_t* codes = out.codes + b * out.n_tokens * block;
    std::int16_t* sums = out.sums + b * out.n_tokens * (block / kSumBlock);
    std::int16_t* joined = out.joined + b * out.n_tokens * (block / kJoinedBlock);
    std::fill_n(sums, block / kSumBlock, std::int16_t{0});
    std::fill_n(joined, block / kJoinedBlock, std::int16_t{0});
    for (std::size_t i = 0; i < block; ++i) {
      codes[i] = quantize_code(values[i], scale.inverse);
      sums[i / kSumBlock] = static_cast<std::int16_t>(sums[i / kSumBlock] + codes[i]);
      joined[i / kJoinedBlock] = static_cast<std::int16_t>(joined[i / kJoinedBlock] + codes[i]);
    }
    out.peaks[b * out.n_tokens] = peak_of({codes, block});
  }
}

}  // namespace

void quantize_q8x32(std::span<const float> x, const QuantizedRow& out) noexcept {
  quantize(x, 32, out);
}

void quantize_q8x256(std::span<const float> x, const QuantizedRow& out) noexcept {
  quantize(x, 256, out);
}

}  // namespace smol::kernels::scalar
