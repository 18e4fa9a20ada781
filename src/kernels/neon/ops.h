// The operations of the NEON and i8mm tables that are not the scalar ones.
#pragma once

#include "kernels/kernel_table.h"

namespace smol::kernels::neon {

// For types that lie in panels; nullptr for other types.
MatMul matmul_panels(gguf::DType weights) noexcept;
MatMul matmul_panels_i8mm(gguf::DType weights) noexcept;

}  // namespace smol::kernels::neon
