// Attention over a cache of int8 without VNNI. maddubs adds two products as int16, of an unsigned
// and a signed byte: |q| * (k with the sign of q), and weight * v, are both at most
// 2 * 127 * 127 = 32,258, which leaves no room for a second pair.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "kernels/avx2/ops.h"
#include "kernels/kv_tile.h"
#include "kernels/run_walk.h"
#include "kernels/x86/attention_ops.h"

SMOL_TARGET_BEGIN("avx2,fma,f16c")

namespace smol::kernels::x86 {
namespace {

struct Avx2AttentionOps : AttentionOps256 {
  static constexpr int kKeyBias = 0;

  struct Query {
    Vec codes, magnitudes;
  };

  static Query query(const std::int8_t* from) noexcept {
    const Vec codes = broadcast(from);
    return {codes, _mm256_abs_epi8(codes)};
  }

  static Vec prepare_keys(Vec keys) noexcept { return keys; }

  static Vec add_keys(Vec sum, Vec keys, const Query& q) noexcept {
    return add_pairs(sum, _mm256_maddubs_epi16(q.magnitudes, _mm256_sign_epi8(keys, q.codes)));
  }

  static Vec add_values(Vec sum, Vec weights, Vec values) noexcept {
    return add_pairs(sum, _mm256_maddubs_epi16(weights, values));
  }

 private:
  static Vec add_pairs(Vec sum, Vec pairs) noexcept {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};

}  // namespace
}  // namespace smol::kernels::x86

#include "kernels/x86/attention_int8.h"

SMOL_TARGET_END

namespace smol::kernels::avx2 {

void attend_int8(const KvRun& run, const Queries& queries, Partial* out) noexcept {
  x86::attend_int8<x86::Avx2AttentionOps>(run, queries, out);
}

}  // namespace smol::kernels::avx2
