#include "gguf/dequantize.h"

#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "gguf/expand_blocks.h"
#include "gguf/half.h"

namespace smol::gguf {
namespace {

template <typename Block>
void expand_all(std::span<const std::byte> bytes, float* out) {
  const std::size_t n_elements = traits(Block::kDType).block_elements;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Block)) {
    Block block;
    std::memcpy(&block, bytes.data() + at, sizeof(Block));
    expand(block, out);
    out += n_elements;
  }
}

template <typename Convert>
void convert_all(std::span<const std::byte> bytes, std::span<float> out, Convert convert) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * sizeof(bits), sizeof(bits));
    out[i] = convert(bits);
  }
}

}  // namespace

void dequantize(DType dtype, std::span<const std::byte> blocks, std::span<float> out) {
  const DTypeTraits& type = traits(dtype);
  SMOL_CHECK(out.size() % type.block_elements == 0);
  SMOL_CHECK(blocks.size() == out.size() / type.block_elements * type.block_bytes);
  if (out.empty()) {
    return;
  }
  switch (dtype) {
    case DType::F32:
      std::memcpy(out.data(), blocks.data(), blocks.size());
      return;
    case DType::F16:
      return convert_all(blocks, out, f16_to_f32);
    case DType::BF16:
      return convert_all(blocks, out, bf16_to_f32);
    case DType::Q4_0:
      return expand_all<BlockQ40>(blocks, out.data());
    case DType::Q4_1:
      return expand_all<BlockQ41>(blocks, out.data());
    case DType::Q5_0:
      return expand_all<BlockQ50>(blocks, out.data());
    case DType::Q5_1:
      return expand_all<BlockQ51>(blocks, out.data());
    case DType::Q8_0:
      return expand_all<BlockQ80>(blocks, out.data());
    case DType::Q2_K:
      return expand_all<BlockQ2K>(blocks, out.data());
    case DType::Q3_K:
      return expand_all<BlockQ3K>(blocks, out.data());
    case DType::Q4_K:
      return expand_all<BlockQ4K>(blocks, out.data());
    case DType::Q5_K:
      return expand_all<BlockQ5K>(blocks, out.data());
    case DType::Q6_K:
      return expand_all<BlockQ6K>(blocks, out.data());
    case DType::IQ4_NL:
      return expand_all<BlockIq4Nl>(blocks, out.data());
    case DType::IQ4_XS:
      return expand_all<BlockIq4Xs>(blocks, out.data());
  }
}

}  // namespace smol::gguf
