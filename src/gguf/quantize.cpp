#include "gguf/quantize.h"

#include <cstring>

#include "base/check.h"

namespace smol::gguf {
namespace {

template <std::size_t N, typename Quantizer>
void quantize_all(std::span<const float> values, std::byte* out, Quantizer one) {
  for (std::size_t at = 0; at < values.size(); at += N) {
    const auto block = one(std::span<const float, N>(values.data() + at, N));
    std::memcpy(out, &block, sizeof(block));
    out += sizeof(block);
  }
}

}  // namespace

bool can_quantize(DType dtype) noexcept {
  return dtype == DType::Q8_0 || dtype == DType::Q4_0 || dtype == DType::Q4_K ||
         dtype == DType::Q6_K;
}

void quantize(DType dtype, std::span<const float> values, std::span<std::byte> blocks) {
  SMOL_CHECK(can_quantize(dtype));
  const DTypeTraits& type = traits(dtype);
  SMOL_CHECK(values.size() % type.block_elements == 0);
  SMOL_CHECK(blocks.size() == values.size() / type.block_elements * type.block_bytes);
  switch (dtype) {
    case DType::Q8_0:
      return quantize_all<kSmallBlock>(values, blocks.data(), quantize_q80);
    case DType::Q4_0:
      return quantize_all<kSmallBlock>(values, blocks.data(), quantize_q40);
    case DType::Q4_K:
      return quantize_all<kSuperBlock>(values, blocks.data(), quantize_q4k);
    default:
      return quantize_all<kSuperBlock>(values, blocks.data(), quantize_q6k);
  }
}

}  // namespace smol::gguf
