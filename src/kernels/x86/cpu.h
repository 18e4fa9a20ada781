// What this x86 processor and its operating system can run.
#pragma once

namespace smol::kernels::x86 {

bool has_avx2() noexcept;     // with FMA and F16C
bool has_avxvnni() noexcept;  // with all of AVX2's
bool has_avx512() noexcept;   // F, BW, VL, DQ, VNNI and all of AVX2's

}  // namespace smol::kernels::x86
