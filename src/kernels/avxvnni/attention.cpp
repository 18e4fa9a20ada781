// Attention with vpdpbusd on 256 bits where the cache is int8; elsewhere AVX2's.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "kernels/avx2/ops.h"
#include "kernels/avxvnni/ops.h"
#include "kernels/kv_tile.h"
#include "kernels/run_walk.h"
#include "kernels/x86/attention_ops.h"

SMOL_TARGET_BEGIN("avx2,avxvnni,fma,f16c")

namespace smol::kernels::x86 {
namespace {

struct AvxVnniAttentionOps : AttentionOps256 {
  using Query = Vec;
  static constexpr int kKeyBias = 128;

  static Query query(const std::int8_t* from) noexcept { return broadcast(from); }

  // Unsigned, kKeyBias higher.
  static Vec prepare_keys(Vec keys) noexcept {
    return _mm256_xor_si256(keys, _mm256_set1_epi8(-128));
  }

  static Vec add_keys(Vec sum, Vec keys, Query q) noexcept {
    return _mm256_dpbusd_avx_epi32(sum, keys, q);
  }

  static Vec add_values(Vec sum, Vec weights, Vec values) noexcept {
    return _mm256_dpbusd_avx_epi32(sum, weights, values);
  }
};

}  // namespace
}  // namespace smol::kernels::x86

#include "kernels/x86/attention_int8.h"

SMOL_TARGET_END

namespace smol::kernels::avxvnni {

void attend_run(const KvRun& run, const Queries& queries, Partial* out) noexcept {
  if (run.format.type == KvType::Int8) {
    x86::attend_int8<x86::AvxVnniAttentionOps>(run, queries, out);
  } else {
    avx2::attend_run(run, queries, out);
  }
}

}  // namespace smol::kernels::avxvnni
