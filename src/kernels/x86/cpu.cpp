#include "kernels/x86/cpu.h"

#include <cpuid.h>

#include "base/tile_state.h"

namespace smol::kernels::x86 {
namespace {

bool has_f16c() noexcept {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned kF16cBit = 1U << 29U;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & kF16cBit) != 0;
}

bool has_vnni256() noexcept {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned kAvxVnniBit = 1U << 4U;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & kAvxVnniBit) != 0;
}

// The builtins also ask the operating system (XGETBV) whether it keeps the wide registers.
bool supports_avx2() noexcept {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

bool supports_avx512() noexcept {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512vnni") != 0;
}

bool has_int8_tiles() noexcept {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned kTileAndInt8 = 3U << 24U;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 &&
         (edx & kTileAndInt8) == kTileAndInt8;
}

}  // namespace

bool has_avx2() noexcept {
  return supports_avx2() && has_f16c();
}

bool has_avxvnni() noexcept {
  return has_avx2() && has_vnni256();
}

bool has_avx512() noexcept {
  return has_avx2() && supports_avx512();
}

bool has_amx() noexcept {
  static const bool kUsable = has_avx512() && has_int8_tiles() && request_tile_state();
  return kUsable;
}

}  // namespace smol::kernels::x86
