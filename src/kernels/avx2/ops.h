// The operations of the AVX2 table (with FMA and F16C; never VNNI).
#pragma once

#include "kernels/kernel_table.h"

namespace smol::kernels::avx2 {

void quantize_q8x32(std::span<const float> x, const QuantizedRow& out) noexcept;
void quantize_q8x256(std::span<const float> x, const QuantizedRow& out) noexcept;

// Each returns nullptr for types that it does not serve.
MatMul matmul_float(gguf::DType weights) noexcept;
MatMul matmul_panels(gguf::DType weights) noexcept;
MatMul matmul_small(gguf::DType weights) noexcept;  // in rows: Q5_1, IQ4_NL
MatMul matmul_super(gguf::DType weights) noexcept;  // in rows: Q2_K, Q3_K, Q5_K, IQ4_XS

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
// Of Int8.
void store_int8(std::size_t head_dim, std::byte* tile, std::size_t index, const float* key,
                const float* value) noexcept;
// One run; of Int8.
void attend_run(const KvRuns& run, const Queries& queries, Partial* out) noexcept;
void attend_int8(const KvRuns& run, const Queries& queries, Partial* out) noexcept;
// Joins a run's partial to that of the runs before.
void join(const Partial& run, std::size_t head_dim, Partial& into) noexcept;
void attend(const KvRuns& runs, const Queries& queries, Partial* out) noexcept;
void combine_runs(std::span<const Partial> runs, std::size_t head_dim, float* y) noexcept;

}  // namespace smol::kernels::avx2
