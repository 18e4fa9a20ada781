#include "kernels/x86/cpu.h"

#include <cpuid.h>

#include "base/tile_state.h"

namespace smol::kernels::x86 {
namespace {

struct CpuidLeaf {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;  // all zero where the processor has no such leaf

  explicit CpuidLeaf(unsigned leaf, unsigned subleaf = 0) noexcept {
    static_cast<void>(__get_cpuid_count(leaf, subleaf, &eax, &ebx, &ecx, &edx));
  }
};

bool has_f16c() noexcept {
  return (CpuidLeaf(1).ecx & 1U << 29U) != 0;
}

bool has_vnni256() noexcept {
  return (CpuidLeaf(7, 1).eax & 1U << 4U) != 0;
}

bool has_int8_tiles() noexcept {
  constexpr unsigned kTileAndInt8 = 3U << 24U;
  return (CpuidLeaf(7).edx & kTileAndInt8) == kTileAndInt8;
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
