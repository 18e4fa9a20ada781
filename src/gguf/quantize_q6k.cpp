// Q6_K: the scale of each sub-block by least squares, then its 8-bit code under the block's common
// scale.
#include "gguf/quantize.h"
#include "gguf/scale_search.h"

namespace smol::gguf {
namespace {

constexpr std::size_t kGroup = 16;
constexpr std::size_t kGroups = kSuperBlock / kGroup;
constexpr float kLowest = -32.0F;
constexpr float kHighest = 31.0F;
constexpr float kLargestScale = 127.0F;

// Element j's code into its places in ql and qh.
void store_code(BlockQ6K& block, std::size_t j, unsigned code) noexcept {
  const std::size_t half = j / 128;
  const std::size_t quarter = j / 32 % 4;
  const std::size_t l = j % 32;
  std::uint8_t& low = block.ql[64 * half + 32 * (quarter % 2) + l];
  low = static_cast<std::uint8_t>(low | ((code & 15U) << (quarter < 2 ? 0U : 4U)));
  std::uint8_t& high = block.qh[32 * half + l];
  high = static_cast<std::uint8_t>(high | ((code >> 4U) << (2 * quarter)));
}

}  // namespace

BlockQ6K quantize_q6k(std::span<const float, kSuperBlock> values) noexcept {
  std::array<float, kGroups> scales{};
  float largest = 0.0F;
  for (std::size_t sub = 0; sub < kGroups; ++sub) {
    const std::span<const float, kGroup> part(values.data() + kGroup * sub, kGroup);
    scales[sub] = search_scale(part, kLowest, kHighest);
    largest = std::max(largest, std::abs(scales[sub]));
  }
  BlockQ6K block{};
  block.d = saturated_half(largest / kLargestScale);
  const float d = f16_to_f32(block.d);
  const float inverse_d = safe_reciprocal(d);
  for (std::size_t sub = 0; sub < kGroups; ++sub) {
    const float scale = nearest_code(scales[sub] * inverse_d, -kLargestScale, kLargestScale);
    block.scales[sub] = static_cast<std::int8_t>(scale);
    const float inverse = safe_reciprocal(d * scale);
    for (std::size_t l = 0; l < kGroup; ++l) {
      const std::size_t j = kGroup * sub + l;
      store_code(
          block, j,
          static_cast<unsigned>(nearest_code(values[j] * inverse, kLowest, kHighest) - kLowest));
    }
  }
  return block;
}

}  // namespace smol::gguf
