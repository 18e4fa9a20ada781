// The tables that dispatch.cpp chooses from.
#pragma once

#include "kernels/kernel_table.h"

namespace smol::kernels {

const KernelTable& scalar_table() noexcept;
#if defined(__x86_64__)
const KernelTable& avx2_table() noexcept;
const KernelTable& avxvnni_table() noexcept;
const KernelTable& avx512_table() noexcept;
const KernelTable& amx_table() noexcept;
#elif defined(__aarch64__)
const KernelTable& neon_table() noexcept;
const KernelTable& i8mm_table() noexcept;
#endif

// What active_kernels() chooses: the table named `isa`, or the best that runs here if it is null or
// empty. Throws Error{Unsupported} where no such table runs here.
const KernelTable& choose_kernels(const char* isa);

}  // namespace smol::kernels
