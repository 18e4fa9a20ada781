// Blocks of any tensor type -> float. For reports, checks and tests: products work on the blocks
// themselves.
#pragma once

#include <cstddef>
#include <span>

#include "gguf/dtype.h"

namespace smol::gguf {

// Requires (SMOL_CHECK): `out` is a whole number of blocks of `dtype` and `blocks` holds exactly
// those. Any alignment of `blocks`. Bits are finite or not as the file has them.
void dequantize(DType dtype, std::span<const std::byte> blocks, std::span<float> out);

}  // namespace smol::gguf
