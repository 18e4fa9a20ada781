// One block -> its floats, one overload a type. `out` has room for the block's elements.
#pragma once

#include "gguf/quant_blocks.h"

namespace smol::gguf {

void expand(const BlockQ40& block, float* out) noexcept;
void expand(const BlockQ41& block, float* out) noexcept;
void expand(const BlockQ50& block, float* out) noexcept;
void expand(const BlockQ51& block, float* out) noexcept;
void expand(const BlockQ80& block, float* out) noexcept;
void expand(const BlockIq4Nl& block, float* out) noexcept;
void expand(const BlockQ2K& block, float* out) noexcept;
void expand(const BlockQ3K& block, float* out) noexcept;
void expand(const BlockQ4K& block, float* out) noexcept;
void expand(const BlockQ5K& block, float* out) noexcept;
void expand(const BlockQ6K& block, float* out) noexcept;
void expand(const BlockIq4Xs& block, float* out) noexcept;

}  // namespace smol::gguf
