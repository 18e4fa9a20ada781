// The online softmax between the two products of attention in tiles, and how runs are joined: for
// 16 queries at a time, so that their maxima, sums and scales are lanes of one vector. Included
// inside the target region of AMX.
#pragma once

#include "kernels/amx/attention_tiles.h"
#include "kernels/avx512/lane_trees.h"

namespace smol::kernels::x86 {
namespace {

// What a step's positions have in common for all queries.
struct Positions {
  __m512 key_scales[kVectorsPerStep];
  __m512 value_scales[kVectorsPerStep];
};

inline Positions read_positions(const std::byte* halves) noexcept {
  Positions out;
  for (std::size_t i = 0; i < kVectorsPerStep; ++i) {
    out.key_scales[i] = TileOps::load_halves(halves + i * kFloats * kScaleBytes);
    out.value_scales[i] = TileOps::load_halves(halves + (kStep + i * kFloats) * kScaleBytes);
  }
  return out;
}

// Which positions of a step each query of a group sees, the lowest bit first.
using Seen = std::array<std::uint64_t, kGroup>;

// All of them, where a group knows that.
struct AllSeen {};

inline __m512 keep_seen(__m512 value, float otherwise, const Seen& seen, std::size_t c,
                        std::size_t i) noexcept {
  const auto lanes = static_cast<__mmask16>(seen[c] >> (i * kFloats));
  return _mm512_mask_mov_ps(_mm512_set1_ps(otherwise), lanes, value);
}

inline __m512 keep_seen(__m512 value, float /*otherwise*/, AllSeen /*seen*/, std::size_t /*c*/,
                        std::size_t /*i*/) noexcept {
  return value;
}

using GroupWeights = __m512[kGroup][kVectorsPerStep];

// A group of a step, by its first column.
template <class SeenOf>
struct GroupOfStep {
  const Positions& positions;
  const SeenOf& seen;
  std::size_t first;
};

// Integer sums to scores; lane c of the result is the largest of column c.
template <class SeenOf>
__m512 score(const GroupOfStep<SeenOf>& at, const GroupSums& sums,
             const QueryCodes<TileOps>* queries, GroupWeights& scores) noexcept {
  __m512 largest[kGroup];
  for (std::size_t c = 0; c < kGroup; ++c) {
    const __m512 factor = _mm512_set1_ps(queries[c].factor);
    for (std::size_t i = 0; i < kVectorsPerStep; ++i) {
      const __m512 sum = TileOps::to_floats(sums[c].data() + i * kFloats, 0);
      const __m512 value = _mm512_mul_ps(_mm512_mul_ps(sum, at.positions.key_scales[i]), factor);
      scores[c][i] = keep_seen(value, kNegativeInfinity, at.seen, c, i);
      largest[c] = i == 0 ? scores[c][i] : _mm512_max_ps(largest[c], scores[c][i]);
    }
  }
  return join_lanes<MaxOf>(largest);
}

struct LargerMagnitude {
  static __m512 of(__m512 a, __m512 b) noexcept { return TileOps::max_magnitude(a, b); }
};

// Of each column of a group, the sums and maxima lane by lane.
struct GroupWeighing {
  GroupWeights weights;  // first scores; in the end times the values' scales
  __m512 sums[kGroup];
  __m512 largest[kGroup];
};

// Scores of column c to weights.
template <class SeenOf>
[[gnu::always_inline]] inline void weigh(const GroupOfStep<SeenOf>& at, float max, std::size_t c,
                                         GroupWeighing& out) noexcept {
  const __m512 subtracted = _mm512_set1_ps(max);
  __m512 sum = _mm512_setzero_ps();
  __m512 largest = _mm512_setzero_ps();
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kVectorsPerStep; ++i) {
    const __m512 weight = TileOps::exp_of_negative(_mm512_sub_ps(out.weights[c][i], subtracted));
    sum = _mm512_add_ps(sum, weight);
    const __m512 scaled = _mm512_mul_ps(weight, at.positions.value_scales[i]);
    out.weights[c][i] = keep_seen(scaled, 0.0F, at.seen, c, i);
    largest = TileOps::max_magnitude(largest, out.weights[c][i]);
  }
  out.sums[c] = sum;
  out.largest[c] = largest;
}

struct BlockScales {
  __m512 scale, inverse;
};

// block_scale() of each lane.
inline BlockScales block_scales(__m512 amax) noexcept {
  const __m512 most = _mm512_set1_ps(kCodeMax);
  const __mmask16 coded = _mm512_cmp_ps_mask(amax, _mm512_set1_ps(kQuantizeFloor), _CMP_NLT_UQ);
  const __mmask16 finite =
      _mm512_cmp_ps_mask(amax, _mm512_set1_ps(std::numeric_limits<float>::max()), _CMP_LE_OQ);
  return {_mm512_maskz_div_ps(coded, amax, most),
          _mm512_maskz_div_ps(static_cast<__mmask16>(coded & finite), most, amax)};
}

// Weights to codes in [0, 127]: none is above 127, since the largest is the scale's. NaN converts
// to the least integer, which packing without sign makes 0.
inline void store_codes(const GroupWeights& weights, __m512 inverse,
                        std::array<std::uint8_t, kStep>* codes) noexcept {
  alignas(64) std::array<float, kGroup> inverses;
  _mm512_store_ps(inverses.data(), inverse);
  // Packing leaves the 32-bit lanes in the order of the four vectors' quarters.
  const __m512i in_order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  for (std::size_t c = 0; c < kGroup; ++c) {
    __m512i lanes[kVectorsPerStep];
    for (std::size_t i = 0; i < kVectorsPerStep; ++i) {
      const __m512 scaled = _mm512_mul_ps(weights[c][i], _mm512_set1_ps(inverses[c]));
      lanes[i] = _mm512_cvtps_epi32(scaled);
    }
    const __m512i packed = _mm512_packus_epi16(_mm512_packs_epi32(lanes[0], lanes[1]),
                                               _mm512_packs_epi32(lanes[2], lanes[3]));
    _mm512_store_si512(codes[c].data(), _mm512_permutexvar_epi32(in_order, packed));
  }
}

// Sums of a group to codes of its weights. beside(work) calls work(i) for i in [0, kParts) while
// the tiles multiply.
template <std::size_t kParts, class SeenOf, class Beside>
void soften_group(const GroupOfStep<SeenOf>& at, const GroupSums& sums, QueryColumns& columns,
                  Step& step, const Beside& beside) noexcept {
  float* maxima = columns.run.maxima.data() + at.first;
  float* sums_so_far = columns.run.sums.data() + at.first;
  GroupWeighing weighing;
  const __m512 old_max = _mm512_loadu_ps(maxima);
  const __m512 largest = score(at, sums, columns.codes.data() + at.first, weighing.weights);
  const __m512 max = _mm512_max_ps(old_max, largest);
  _mm512_storeu_ps(maxima, max);
  const __m512 correction = TileOps::exp_of_negative(_mm512_sub_ps(old_max, max));
  _mm512_storeu_ps(step.corrections.data() + at.first, correction);
  beside([&](std::size_t part) {
    constexpr std::size_t kColumns = kGroup / kParts;
    for (std::size_t c = part * kColumns; c < (part + 1) * kColumns; ++c) {
      weigh(at, maxima[c], c, weighing);
    }
  });
  const __m512 sum = join_lanes<SumOf>(weighing.sums);
  _mm512_storeu_ps(sums_so_far, _mm512_fmadd_ps(_mm512_loadu_ps(sums_so_far), correction, sum));
  const BlockScales blocks = block_scales(join_lanes<LargerMagnitude>(weighing.largest));
  _mm512_storeu_ps(step.scales.data() + at.first, blocks.scale);
  store_codes(weighing.weights, blocks.inverse, step.codes.data() + at.first);
}

// What a run's share and that of the runs before are multiplied with when they are joined.
struct JoinFactors {
  alignas(64) std::array<float, kGroup> old_factors, new_factors;
};

// Joins maxima and sums of a group, columns from `first` on.
inline JoinFactors join_group(const Partials& run, std::size_t first, Partials& total) noexcept {
  const __m512 old_max = _mm512_loadu_ps(total.maxima.data() + first);
  const __m512 new_max = _mm512_loadu_ps(run.maxima.data() + first);
  const __m512 max = _mm512_max_ps(old_max, new_max);
  const __m512 old_factor = TileOps::exp_of_negative(_mm512_sub_ps(old_max, max));
  const __m512 new_factor = TileOps::exp_of_negative(_mm512_sub_ps(new_max, max));
  const __m512 added = _mm512_mul_ps(_mm512_loadu_ps(run.sums.data() + first), new_factor);
  const __m512 old_sum = _mm512_loadu_ps(total.sums.data() + first);
  _mm512_storeu_ps(total.maxima.data() + first, max);
  _mm512_storeu_ps(total.sums.data() + first, _mm512_fmadd_ps(old_sum, old_factor, added));
  JoinFactors factors;
  _mm512_store_ps(factors.old_factors.data(), old_factor);
  _mm512_store_ps(factors.new_factors.data(), new_factor);
  return factors;
}

template <std::size_t kDim>
void join_accumulators(const float* run, float old_factor, float new_factor, float* into) noexcept {
  for (std::size_t d = 0; d < kDim; d += kFloats) {
    const __m512 added = _mm512_mul_ps(_mm512_loadu_ps(run + d), _mm512_set1_ps(new_factor));
    const __m512 old = _mm512_loadu_ps(into + d);
    _mm512_storeu_ps(into + d, _mm512_fmadd_ps(old, _mm512_set1_ps(old_factor), added));
  }
}

}  // namespace
}  // namespace smol::kernels::x86
