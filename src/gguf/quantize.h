// float -> blocks. Each quantizer searches scales that make the squared error of a block small.
#pragma once

#include <cstddef>
#include <span>

#include "gguf/dtype.h"
#include "gguf/quant_blocks.h"

namespace smol::gguf {

// Whether quantize() can write `dtype`: Q8_0, Q4_0, Q4_K and Q6_K.
bool can_quantize(DType dtype) noexcept;

// Requires (SMOL_CHECK): can_quantize(dtype), a whole number of blocks, `blocks` of exactly their
// bytes. The values are finite; those beyond what a half precision scale can reach saturate. The
// same input gives the same bytes on every machine.
void quantize(DType dtype, std::span<const float> values, std::span<std::byte> blocks);

// Single blocks.
BlockQ80 quantize_q80(std::span<const float, kSmallBlock> values) noexcept;
BlockQ40 quantize_q40(std::span<const float, kSmallBlock> values) noexcept;
BlockQ4K quantize_q4k(std::span<const float, kSuperBlock> values) noexcept;
BlockQ6K quantize_q6k(std::span<const float, kSuperBlock> values) noexcept;

}  // namespace smol::gguf
