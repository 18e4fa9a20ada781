// The operations of the scalar table: the definition of every result, bit for bit.
#pragma once

#include "kernels/kernel_table.h"

namespace smol::kernels::scalar {

void quantize_q8x32(std::span<const float> x, const QuantizedRow& out) noexcept;
void quantize_q8x256(std::span<const float> x, const QuantizedRow& out) noexcept;

MatMul matmul(gguf::DType weights) noexcept;
// For F32, F16 and BF16; nullptr for other types.
MatMul matmul_float(gguf::DType weights) noexcept;
// For quantized types in rows as in the file, those that have panels included: the definition of
// every quantized product. nullptr for other types.
MatMul matmul_rows(gguf::DType weights) noexcept;
// For types that lie in panels; nullptr for other types.
MatMul matmul_panels(gguf::DType weights) noexcept;

void rms_norm(std::span<const float> x, std::span<const float> weight, float eps,
              std::span<float> y) noexcept;
void rope_adjacent(float* x, std::size_t n_heads, std::size_t head_dim, const float* cos,
                   const float* sin) noexcept;
void rope_halves(float* x, std::size_t n_heads, std::size_t head_dim, const float* cos,
                 const float* sin) noexcept;
void swiglu(std::span<const float> gate, std::span<const float> up, std::span<float> y) noexcept;
void add(std::span<float> x, std::span<const float> y) noexcept;

void kv_store(KvFormat format, std::byte* tile, std::size_t index, const float* key,
              const float* value) noexcept;
// The same for Int8.
void store_int8(KvFormat format, std::byte* tile, std::size_t index, const float* key,
                const float* value) noexcept;
// One run of Int8.
void attend_int8(const KvRuns& run, const Queries& queries, Partial* out) noexcept;
void attend(const KvRuns& runs, const Queries& queries, Partial* out) noexcept;
void combine_runs(std::span<const Partial> runs, std::size_t head_dim, float* y) noexcept;

}  // namespace smol::kernels::scalar
