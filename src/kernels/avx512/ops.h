// The operations of the AVX-512 table (F, BW, VL, DQ and VNNI): those where 512 bits matter. The
// others are AVX2's, which every such processor has.
#pragma once

#include "kernels/kernel_table.h"

namespace smol::kernels::avx512 {

void quantize_q8x256(std::span<const float> x, const QuantizedRow& out) noexcept;

// Each returns nullptr for types that it does not serve (avx2/ops.h).
MatMul matmul_float(gguf::DType weights) noexcept;
MatMul matmul_panels(gguf::DType weights) noexcept;
MatMul matmul_small(gguf::DType weights) noexcept;
MatMul matmul_super(gguf::DType weights) noexcept;

void swiglu(std::span<const float> gate, std::span<const float> up, std::span<float> y) noexcept;

// One run of Int8.
void attend_int8(const KvRuns& run, const Queries& queries, Partial* out) noexcept;
void attend(const KvRuns& runs, const Queries& queries, Partial* out) noexcept;

}  // namespace smol::kernels::avx512
