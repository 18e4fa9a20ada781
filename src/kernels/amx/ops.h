// The operations of the AMX table: products of many tokens with Q4_K and Q6_K, attention of many
// queries over a cache of int8. The others are AVX-512's, which every processor with tiles has.
#pragma once

#include "kernels/kernel_table.h"

namespace smol::kernels::amx {

// Returns nullptr for types that it does not serve.
MatMul matmul_panels(gguf::DType weights) noexcept;

void attend(const KvRuns& runs, const Queries& queries, Partial* out) noexcept;

}  // namespace smol::kernels::amx
