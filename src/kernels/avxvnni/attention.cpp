// Attention with vpdpbusd on 256 bits where the cache is int8; elsewhere AVX2's.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
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
  using Keys = Vec;
  using FourCodes = std::array<std::int8_t, 4>;
  static constexpr int kKeyBias = 128;
  static constexpr std::size_t kKeyColumns = 4;
  static constexpr std::size_t kKeyVectors = 2;
  static constexpr std::size_t kValueColumns = 4;
  static constexpr std::size_t kValueVectors = 2;

  static void store_query(const std::int8_t* codes, FourCodes* to) noexcept {
    std::memcpy(to, codes, 8 * sizeof(FourCodes));
  }

  // Unsigned, kKeyBias higher.
  static Keys prepare_keys(Vec keys) noexcept {
    return _mm256_xor_si256(keys, _mm256_set1_epi8(-128));
  }

  template <std::size_t kVectors>
  static void add_keys(Vec* sums, const Keys* keys, const FourCodes& query) noexcept {
    const Vec codes = broadcast(query.data());
    for (std::size_t v = 0; v < kVectors; ++v) {
      sums[v] = _mm256_dpbusd_avx_epi32(sums[v], keys[v], codes);
    }
  }

  // Sums that are `bias` too high.
  static Floats to_floats(const std::int32_t* from, int bias) noexcept {
    const Vec too_high = _mm256_set1_epi32(bias);
    return {_mm256_cvtepi32_ps(_mm256_sub_epi32(load256(from), too_high)),
            _mm256_cvtepi32_ps(_mm256_sub_epi32(load256(from + 8), too_high))};
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
namespace {

void attend_run(const KvRuns& run, const Queries& queries, Partial* out) noexcept {
  if (run.format.type == KvType::Int8) {
    x86::attend_int8<x86::AvxVnniAttentionOps>(run, queries, out);
  } else {
    avx2::attend_run(run, queries, out);
  }
}

}  // namespace

void attend(const KvRuns& runs, const Queries& queries, Partial* out) noexcept {
  attend_each_run(runs, queries, out, attend_run, avx2::join);
}

}  // namespace smol::kernels::avxvnni
