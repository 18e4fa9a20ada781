// The operations of the AVX-VNNI table: AVX2's, with products of codes by 256-bit VNNI.
#pragma once

#include "kernels/kernel_table.h"

namespace smol::kernels::avxvnni {

// nullptr for types that lie in rows.
MatMul matmul_panels(gguf::DType weights) noexcept;

void attend(const KvRuns& runs, const Queries& queries, Partial* out) noexcept;

}  // namespace smol::kernels::avxvnni
