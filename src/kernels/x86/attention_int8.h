// Attention over a cache of int8, for one instruction set: included after its `Ops`, inside its
// target region. The order of operations is that of scalar/attention_int8.cpp.
//
// Ops: Vec, of kBytes, and what it does with codes; Floats, 16 lanes of float32; kTogether, the
// queries whose steps run side by side, so that none waits for its own sums across lanes (at most
// 16); kKeyColumns by kKeyVectors, kValueColumns by kValueVectors, the queries that share each load
// and the vectors of sums that each of them keeps in registers; kKeyBias, by how much
// prepare_keys() raises the codes.
#pragma once

namespace smol::kernels::x86 {
namespace {

inline constexpr std::size_t kFloats = 16;
inline constexpr std::size_t kCodesAtOnce = 32;  // that store_query() takes

// A query, transformed and quantized.
template <class Ops>
struct alignas(64) QueryCodes {
  std::array<typename Ops::FourCodes, kMostHeadDim / 4> codes;
  float factor;  // what an integer sum times the key's scale is multiplied with
  int bias;      // by how much integer sums are too high
};

// One step of queries that run side by side: a column each.
template <std::size_t kTogether>
struct alignas(64) Columns {
  std::array<std::array<std::int32_t, kStep>, kTogether> sums;   // Q.K
  std::array<std::array<float, kStep>, kTogether> weights;       // scores before
  std::array<std::array<std::uint8_t, kStep>, kTogether> codes;  // of the weights
  std::array<float, kTogether> maxima, scales;
  std::array<float, kFloats> corrections;  // of as many lanes as exp takes
};

template <class Ops>
using ColumnsOf = Columns<Ops::kTogether>;

struct alignas(64) TileScales {
  std::array<float, kStep> keys, values;
};

template <class Ops, std::size_t kDim>
using HeadOf = typename Ops::Floats[kDim / kFloats];

// kernels/hadamard.h
template <class Ops, std::size_t kDim>
[[gnu::always_inline]] inline void hadamard(const float* from, HeadOf<Ops, kDim>& x) noexcept {
  constexpr std::size_t kVectors = kDim / kFloats;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kVectors; ++i) {
    x[i] = Ops::hadamard(Ops::load(from + i * kFloats));
  }
#pragma GCC unroll 3
  for (std::size_t stride = 1; stride < kVectors; stride *= 2) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kVectors; ++i) {
      if ((i & stride) == 0) {
        const auto a = x[i];
        const auto b = x[i + stride];
        x[i] = Ops::add(a, b);
        x[i + stride] = Ops::subtract(a, b);
      }
    }
  }
}

template <class Ops, std::size_t kDim>
float largest_magnitude(const HeadOf<Ops, kDim>& x) noexcept {
  auto largest = Ops::set(0.0F);
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kDim / kFloats; ++i) {
    largest = Ops::max_magnitude(largest, x[i]);
  }
  return Ops::largest_magnitude_lane(largest);
}

//   codes [kDim], in [-127, 127]
template <class Ops, std::size_t kDim>
void store_codes(const HeadOf<Ops, kDim>& x, float inverse, std::int8_t* codes) noexcept {
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kDim / kFloats; ++i) {
    const auto scaled = Ops::multiply(x[i], Ops::set(inverse));
    Ops::store_codes(codes + i * kFloats, Ops::clamp(scaled, -kCodeMax, kCodeMax));
  }
}

template <class Ops, std::size_t kDim>
void quantize(const float* q, float scale, QueryCodes<Ops>& out) noexcept {
  alignas(64) std::array<std::int8_t, kDim> codes;
  HeadOf<Ops, kDim> x;
  hadamard<Ops, kDim>(q, x);
  const BlockScale block = block_scale(largest_magnitude<Ops, kDim>(x));
  store_codes<Ops, kDim>(x, block.inverse, codes.data());
  for (std::size_t d = 0; d < kDim; d += kCodesAtOnce) {
    Ops::store_query(codes.data() + d, out.codes.data() + d / 4);
  }
  out.factor = block.scale * (scale / static_cast<float>(kDim));
  out.bias = Ops::kKeyBias * std::accumulate(codes.begin(), codes.end(), 0);
}

template <class Ops>
void read_scales(const std::byte* halves, TileScales& out) noexcept {
  for (std::size_t p = 0; p < kStep; p += kFloats) {
    Ops::store(out.keys.data() + p, Ops::load_halves(halves + p * kScaleBytes));
    Ops::store(out.values.data() + p, Ops::load_halves(halves + (kStep + p) * kScaleBytes));
  }
}

// A tile that is read soon: a few lines are asked for with every step of the products, so that the
// requests do not come in a burst. Two tiles ahead, one would be late now and then.
inline constexpr std::size_t kTilesAhead = 2;

struct Ahead {
  const std::byte* line = nullptr;
  const std::byte* end = nullptr;

  void ask(std::size_t n_lines) noexcept {
    if (line < end) {
      for (std::size_t i = 0; i < n_lines; ++i) {
        _mm_prefetch(static_cast<const char*>(static_cast<const void*>(line + i * 64)),
                     _MM_HINT_T1);
      }
      line += n_lines * 64;
    }
  }
};

// Lines a step that make up a tile when four columns have gone through both products.
template <class Ops>
constexpr std::size_t lines_ahead(std::size_t n_columns, std::size_t n_vectors) noexcept {
  return std::max<std::size_t>(n_columns * n_vectors * Ops::kBytes / (4 * kStep), 1);
}

template <class Ops, std::size_t kColumns, std::size_t kVectors>
using SumsOf = typename Ops::Vec[kColumns][kVectors];

template <class Ops, std::size_t kColumns, std::size_t kVectors>
void clear(SumsOf<Ops, kColumns, kVectors>& sums) noexcept {
  for (auto& column : sums) {
    for (auto& sum : column) {
      sum = Ops::zero();
    }
  }
}

// Q.K of all 64 positions, for columns from `first` on.
template <class Ops, std::size_t kDim, std::size_t kColumns>
void multiply_keys(const std::byte* keys, const QueryCodes<Ops>* queries, std::size_t first,
                   ColumnsOf<Ops>& out, Ahead& ahead) noexcept {
  constexpr std::size_t kLanesOfVec = Ops::kBytes / 4;
  constexpr std::size_t kVectors = Ops::kKeyVectors;
  for (std::size_t p = 0; p < kStep; p += kVectors * kLanesOfVec) {
    SumsOf<Ops, kColumns, kVectors> sums;
    clear<Ops, kColumns, kVectors>(sums);
    for (std::size_t d = 0; d < kDim; d += 4) {
      ahead.ask(lines_ahead<Ops>(kColumns, kVectors));
      typename Ops::Keys key[kVectors];
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVectors; ++v) {
        key[v] = Ops::prepare_keys(Ops::load_bytes(keys + d * kStep + p * 4 + v * Ops::kBytes));
      }
#pragma GCC unroll 4
      for (std::size_t c = 0; c < kColumns; ++c) {
        Ops::template add_keys<kVectors>(sums[c], key, queries[first + c].codes[d / 4]);
      }
    }
    for (std::size_t c = 0; c < kColumns; ++c) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        Ops::store_bytes(out.sums[first + c].data() + p + v * kLanesOfVec, sums[c][v]);
      }
    }
  }
}

// Integer sums to scores; returns the largest.
template <class Ops>
float score(const QueryCodes<Ops>& query, const TileScales& scales, std::size_t count,
            const std::array<std::int32_t, kStep>& sums,
            std::array<float, kStep>& scores) noexcept {
  auto largest = Ops::set(kNegativeInfinity);
  for (std::size_t p = 0; p < kStep; p += kFloats) {
    const auto sum = Ops::to_floats(sums.data() + p, query.bias);
    auto value = Ops::multiply(Ops::multiply(sum, Ops::load(scales.keys.data() + p)),
                               Ops::set(query.factor));
    if (count < p + kFloats) {
      value = Ops::first_of(value, Ops::set(kNegativeInfinity), count < p ? 0 : count - p);
    }
    Ops::store(scores.data() + p, value);
    largest = p == 0 ? value : Ops::max(largest, value);
  }
  return Ops::max_lane(largest);
}

struct Weighed {
  float sum;      // of the weights
  float largest;  // of them, each times its value's scale
};

// Scores to weights, times the values' scales.
template <class Ops>
Weighed weigh(const TileScales& scales, std::size_t count, float max,
              std::array<float, kStep>& weights) noexcept {
  auto sum = Ops::set(0.0F);
  auto largest = Ops::set(0.0F);
  for (std::size_t p = 0; p < kStep; p += kFloats) {
    const auto weight =
        Ops::exp_of_negative(Ops::subtract(Ops::load(weights.data() + p), Ops::set(max)));
    sum = Ops::add(sum, weight);
    auto scaled = Ops::multiply(weight, Ops::load(scales.values.data() + p));
    if (count < p + kFloats) {
      scaled = Ops::first_of(scaled, Ops::set(0.0F), count < p ? 0 : count - p);
    }
    largest = Ops::max_magnitude(largest, scaled);
    Ops::store(weights.data() + p, scaled);
  }
  return {Ops::sum_lanes(sum), Ops::largest_magnitude_lane(largest)};
}

// P.V of all 64 positions, for the dimensions of kVectors vectors from `values` on.
template <class Ops, std::size_t kDim, std::size_t kColumns, std::size_t kVectors>
[[gnu::always_inline]] inline void multiply_values(const std::byte* values,
                                                   const ColumnsOf<Ops>& columns, std::size_t first,
                                                   SumsOf<Ops, kColumns, kVectors>& sums,
                                                   Ahead& ahead) noexcept {
  for (std::size_t p = 0; p < kStep; p += 4) {
    ahead.ask(lines_ahead<Ops>(kColumns, kVectors));
    typename Ops::Vec weights[kColumns];
    for (std::size_t c = 0; c < kColumns; ++c) {
      weights[c] = Ops::broadcast(columns.codes[first + c].data() + p);
    }
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto value = Ops::load_bytes(values + p * kDim + v * Ops::kBytes);
#pragma GCC unroll 4
      for (std::size_t c = 0; c < kColumns; ++c) {
        sums[c][v] = Ops::add_values(sums[c][v], weights[c], value);
      }
    }
  }
}

// P.V added to the accumulators, for columns from `first` on.
template <class Ops, std::size_t kDim, std::size_t kColumns>
void add_values(const std::byte* values, const ColumnsOf<Ops>& columns, std::size_t first,
                Partial* out, Ahead& ahead) noexcept {
  constexpr std::size_t kLanesOfVec = Ops::kBytes / 4;
  constexpr std::size_t kVectors = std::min(kDim / kLanesOfVec, Ops::kValueVectors);
  for (std::size_t d = 0; d < kDim; d += kVectors * kLanesOfVec) {
    SumsOf<Ops, kColumns, kVectors> sums;
    clear<Ops, kColumns, kVectors>(sums);
    multiply_values<Ops, kDim, kColumns, kVectors>(values + d * 4, columns, first, sums, ahead);
    for (std::size_t c = 0; c < kColumns; ++c) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        Ops::accumulate(out[first + c].acc + d + v * kLanesOfVec, columns.corrections[first + c],
                        columns.scales[first + c], sums[c][v]);
      }
    }
  }
}

struct StepOfRun {
  const Queries& queries;
  std::size_t step;
  const std::byte* tile;
  const TileScales& scales;
};

// Scores, weights and codes of n columns, each stage for all of them.
template <class Ops>
void soften(const StepOfRun& at, std::size_t first, std::size_t n, const QueryCodes<Ops>* codes,
            ColumnsOf<Ops>& columns, Partial* out) noexcept {
  columns.corrections.fill(0.0F);
  std::array<std::size_t, Ops::kTogether> counts;
  for (std::size_t c = 0; c < n; ++c) {
    counts[c] = visible_in(at.queries, (first + c) / at.queries.n_heads, at.step);
    const float largest =
        score<Ops>(codes[c], at.scales, counts[c], columns.sums[c], columns.weights[c]);
    columns.maxima[c] = max_of(out[c].max, largest);
    columns.corrections[c] = out[c].max - columns.maxima[c];
  }
  std::array<Weighed, Ops::kTogether> weighed;
  Ops::store(columns.corrections.data(),
             Ops::exp_of_negative(Ops::load(columns.corrections.data())));
  for (std::size_t c = 0; c < n; ++c) {
    weighed[c] = weigh<Ops>(at.scales, counts[c], columns.maxima[c], columns.weights[c]);
  }
  for (std::size_t c = 0; c < n; ++c) {
    out[c].max = columns.maxima[c];
    out[c].sum = std::fma(out[c].sum, columns.corrections[c], weighed[c].sum);
    const BlockScale block = block_scale(weighed[c].largest);
    columns.scales[c] = block.scale;
    for (std::size_t p = 0; p < kStep; p += kFloats) {
      // Not above 127: the largest weight is the scale's.
      const auto scaled =
          Ops::multiply(Ops::load(columns.weights[c].data() + p), Ops::set(block.inverse));
      Ops::store_weight_codes(columns.codes[c].data() + p, scaled);
    }
  }
}

// work(first, count) for columns [first, end), in groups of kColumns, then of half as many ...
template <std::size_t kColumns, class Work>
void for_columns(std::size_t first, std::size_t end, const Work& work) noexcept {
  for (; first + kColumns <= end; first += kColumns) {
    work(first, std::integral_constant<std::size_t, kColumns>());
  }
  if constexpr (kColumns > 1) {
    for_columns<kColumns / 2>(first, end, work);
  }
}

// Columns [first, first + n) of the call, at most kTogether.
template <class Ops, std::size_t kDim>
void attend_columns(const StepOfRun& at, std::size_t first, std::size_t n,
                    const QueryCodes<Ops>* codes, Ahead& ahead, Partial* out) noexcept {
  ColumnsOf<Ops> columns;
  for_columns<Ops::kKeyColumns>(0, n, [&](std::size_t c, auto count) {
    multiply_keys<Ops, kDim, count()>(at.tile, codes + first, c, columns, ahead);
  });
  soften<Ops>(at, first, n, codes + first, columns, out + first);
  const std::byte* values = at.tile + kStep * kDim;
  for_columns<Ops::kValueColumns>(0, n, [&](std::size_t c, auto count) {
    add_values<Ops, kDim, count()>(values, columns, c, out + first, ahead);
  });
}

template <class Ops, std::size_t kDim>
void attend_run_int8(const KvRuns& run, const Queries& queries, Partial* out) noexcept {
  start(queries, kDim, out);
  const std::size_t n = queries.n_tokens * queries.n_heads;
  std::array<QueryCodes<Ops>, kMostQueries> codes;
  for (std::size_t i = 0; i < n; ++i) {
    const float* q =
        queries.q + i / queries.n_heads * queries.token_stride + i % queries.n_heads * kDim;
    quantize<Ops, kDim>(q, queries.scale, codes[i]);
  }
  const std::size_t bytes = tile_bytes(run.format);
  for (std::size_t step = 0; step < n_steps(queries); ++step) {
    const std::byte* tile = run.tiles[step];
    const std::size_t soon = step + kTilesAhead;
    Ahead ahead = soon < run.n_tiles ? Ahead{run.tiles[soon], run.tiles[soon] + bytes} : Ahead{};
    TileScales scales;
    read_scales<Ops>(tile + scales_offset(run.format), scales);
    const StepOfRun at{queries, step, tile, scales};
    for (std::size_t c = first_token(queries, step) * queries.n_heads; c < n; c += Ops::kTogether) {
      attend_columns<Ops, kDim>(at, c, std::min(Ops::kTogether, n - c), codes.data(), ahead, out);
    }
  }
}

template <class Ops>
void attend_int8(const KvRuns& run, const Queries& queries, Partial* out) noexcept {
  switch (run.format.head_dim) {
    case 32:
      attend_run_int8<Ops, 32>(run, queries, out);
      return;
    case 64:
      attend_run_int8<Ops, 64>(run, queries, out);
      return;
    default:
      attend_run_int8<Ops, 128>(run, queries, out);
  }
}

}  // namespace
}  // namespace smol::kernels::x86
