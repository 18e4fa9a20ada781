// Attention over a cache of int8 without VNNI. Keys are widened to int16 once for all queries (the
// four codes of a position to dimensions 0 and 2, 1 and 3): with the sign moved from one factor to
// the other, maddubs would cost three instructions a query that share two ports, madd costs two.
// Weights have no sign: maddubs adds two products with values as int16, at most 2 * 127 * 127 =
// 32,258, which leaves no room for a second pair.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
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

  static constexpr std::size_t kKeyColumns = 4;
  static constexpr std::size_t kKeyVectors = 2;
  static constexpr std::size_t kValueColumns = 2;
  static constexpr std::size_t kValueVectors = 4;

  // As int16, kShift bits up: sums stay below 2^30.
  struct Keys {
    Vec even, odd;
  };

  struct FourCodes {
    std::array<std::int16_t, 2> even, odd;
  };

  static void store_query(const std::int8_t* codes, FourCodes* to) noexcept {
    const Vec x = load_bytes(codes);
    const Vec even = _mm256_srai_epi16(_mm256_slli_epi16(x, 8), 8);
    const Vec odd = _mm256_srai_epi16(x, 8);
    const Vec low = _mm256_unpacklo_epi32(even, odd);   // 0 1 | 4 5
    const Vec high = _mm256_unpackhi_epi32(even, odd);  // 2 3 | 6 7
    store_bytes(to, _mm256_permute2x128_si256(low, high, 0x20));
    store_bytes(to + 4, _mm256_permute2x128_si256(low, high, 0x31));
  }

  static Keys prepare_keys(Vec keys) noexcept {
    return {_mm256_slli_epi16(keys, kShift), _mm256_andnot_si256(_mm256_set1_epi16(0xFF), keys)};
  }

  template <std::size_t kVectors>
  static void add_keys(Vec* sums, const Keys* keys, const FourCodes& query) noexcept {
    const Vec even = broadcast(query.even.data());
    for (std::size_t v = 0; v < kVectors; ++v) {
      sums[v] = _mm256_add_epi32(sums[v], _mm256_madd_epi16(keys[v].even, even));
    }
    const Vec odd = broadcast(query.odd.data());
    for (std::size_t v = 0; v < kVectors; ++v) {
      sums[v] = _mm256_add_epi32(sums[v], _mm256_madd_epi16(keys[v].odd, odd));
    }
  }

  static Floats to_floats(const std::int32_t* from, int /*bias*/) noexcept {
    return {_mm256_cvtepi32_ps(_mm256_srai_epi32(load256(from), kShift)),
            _mm256_cvtepi32_ps(_mm256_srai_epi32(load256(from + 8), kShift))};
  }

  static Vec add_values(Vec sum, Vec weights, Vec values) noexcept {
    const Vec pairs = _mm256_maddubs_epi16(weights, values);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }

 private:
  static constexpr int kShift = 8;
};

}  // namespace
}  // namespace smol::kernels::x86

#include "kernels/x86/attention_int8.h"
#include "kernels/x86/store_int8.h"

SMOL_TARGET_END

namespace smol::kernels::avx2 {

void store_int8(std::size_t head_dim, std::byte* tile, std::size_t index, const float* key,
                const float* value) noexcept {
  x86::store_int8<x86::Avx2AttentionOps>(head_dim, tile, index, key, value);
}

void attend_int8(const KvRuns& run, const Queries& queries, Partial* out) noexcept {
  x86::attend_int8<x86::Avx2AttentionOps>(run, queries, out);
}

}  // namespace smol::kernels::avx2
