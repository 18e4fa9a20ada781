// What this x86 processor and its operating system can run.
#pragma once

namespace smol::kernels::x86 {

bool has_avx2() noexcept;     // with FMA and F16C
bool has_avxvnni() noexcept;  // with all of AVX2's
bool has_avx512() noexcept;   // F, BW, VL, DQ, VNNI and all of AVX2's
// TILE, INT8 and all of AVX-512's. The first call asks the system for the tiles' state, for all
// threads of the process: before any thread uses them.
bool has_amx() noexcept;

}  // namespace smol::kernels::x86
