// One table per instruction set, all that this processor family can have compiled into every
// binary.
//
// One arithmetic: the scalar table is the definition, bit for bit; every other table returns the
// same bytes (tests/kernels/isa_parity_test.cpp). Hence, in every table:
//  - integer sums are exact, in any order;
//  - every fused multiply-add is explicit (kernels/fma.h or its instruction) and none is left to
//    the compiler;
//  - a "16-lane sum" keeps lane l over the elements l, l+16, l+32 ... in ascending order (a last
//  short
//    step leaves the missing lanes untouched) and then adds lanes l and l+8, then l and l+4, l+2,
//    l+1;
//  - conversions int32 -> float, float -> half round to nearest even.
// NaN and infinity are no error: they give NaN somewhere in every table, whose sign and payload are
// not fixed. Kernels take proven sizes, never throw, never allocate and never thread: callers split
// the work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "gguf/dtype.h"

namespace smol::kernels {

struct RowRange {
  std::size_t begin, end;
};

// A weight matrix [n_rows, n_cols]: in panels where has_panels(dtype) (kernels/panel.h), otherwise
// rows as in the file, one after the other.
struct Matrix {
  gguf::DType dtype;
  const std::byte* data;                  // not owned
  std::size_t n_rows, n_cols, row_bytes;  // row_bytes: of a row in the file
};

// How a matrix of some type wants the activations it is multiplied with.
enum class ActivationFormat {
  F32,    // F32, F16, BF16: as they are
  Q8x32,  // 32-element types: int8, one float32 scale per 32, amax / 127
  Q8x256  // K-quants and IQ4_XS: int8, one float32 scale per 256
};
ActivationFormat activation_format(gguf::DType weights) noexcept;
// Activations come with the sums of each 16 and of each 32 codes, and with the largest sum of the
// magnitudes of 16 codes: products that are short of room are then known to fit.
inline constexpr std::size_t kSumBlock = 16;
inline constexpr std::size_t kJoinedBlock = 32;

// The activations of `n_tokens` tokens in one format, as structure of arrays. Quantized blocks of
// the same columns lie together, token after token: a batch walks through them as they lie, and its
// tokens do not compete for the same lines of the cache.
struct Activations {
  ActivationFormat format;
  std::size_t n_tokens, n_cols;
  const float* f32;            // [n_tokens, n_cols]                 (F32 only)
  const std::int8_t* codes;    // [n_cols / block, n_tokens, block]  (Q8 formats; block 32 or 256)
  const float* scales;         // [n_cols / block, n_tokens]
  const std::int16_t* sums;    // [n_cols / block, n_tokens, block / 16]  of 16 codes
  const std::int16_t* joined;  // [n_cols / block, n_tokens, block / 32]  of 32 codes
  const std::int16_t* peaks;   // [n_cols / block, n_tokens]  of the magnitudes of 16 codes
};

// Where the blocks of one token go: block b at codes + b * n_tokens * block, scales + b * n_tokens,
// sums + b * n_tokens * block / 16, joined + b * n_tokens * block / 32, peaks + b * n_tokens.
struct QuantizedRow {
  std::int8_t* codes;
  float* scales;
  std::int16_t* sums;
  std::int16_t* joined;
  std::int16_t* peaks;
  std::size_t n_tokens;
};

// scale = amax / 127; code = round to nearest even of x * (127 / amax), in [-127, 127]; all zero
// where amax is below 2^-120 (127 / amax would overflow). A block with an infinity or NaN gets that
// as its scale, so that every product with it is not finite.
//   x [n] one token
using Quantize = void (*)(std::span<const float> x, const QuantizedRow& out) noexcept;

// y[t, r] = dot(w[r, :], x[t, :]) for r in `rows`, for every token.
//   y[t * y_stride + r]; only columns `rows` are written, so threads may run disjoint ranges.
// Requires x in activation_format(w.dtype), and of panels whole ones: rows.begin a multiple of 16,
// rows.end one or n_rows. Per (row, token) the order of float operations is that
// of docs/performance.md ("canonical order"): blocks ascending, one accumulator, never dependent on
// n_tokens.
using MatMul = void (*)(const Matrix& w, const Activations& x, float* y, std::size_t y_stride,
                        RowRange rows) noexcept;

// y = x / sqrt(mean(x^2) + eps) * weight; the sum of squares is a 16-lane sum of fused
// multiply-adds.
using RmsNorm = void (*)(std::span<const float> x, std::span<const float> weight, float eps,
                         std::span<float> y) noexcept;

// Turns pairs by an angle: (a, b) -> (a cos - b sin, a sin + b cos), each a product and one fma.
//   x [n_heads, head_dim] in place   cos, sin [head_dim / 2]
// Pair j is (x[2j], x[2j+1]) ("adjacent", GGUF's order).
using Rope = void (*)(float* x, std::size_t n_heads, std::size_t head_dim, const float* cos,
                      const float* sin) noexcept;

// y[i] = gate[i] / (1 + exp(-gate[i])) * up[i]; y may be gate.
using SwiGlu = void (*)(std::span<const float> gate, std::span<const float> up,
                        std::span<float> y) noexcept;

// x[i] += y[i]
using Add = void (*)(std::span<float> x, std::span<const float> y) noexcept;

enum class KvType : std::uint8_t { F32, F16, Int8 };

// Positions are read in runs of kRun counted from 0, whatever the batch, chunk or threads.
inline constexpr std::size_t kRun = 512;
// Within a run, the online softmax goes in steps of kStep positions; a tile holds those of one.
inline constexpr std::size_t kStep = 64;
inline constexpr std::size_t kTilesPerRun = kRun / kStep;

// How keys and values of one KV head are stored. A tile of them is described in kernels/kv_tile.h.
struct KvFormat {
  KvType type;
  std::size_t head_dim;  // 32, 64 or 128
};

inline constexpr std::size_t kMostHeadDim = 128;

// Writes key and value [head_dim] of position `index` of a tile. Int8: each with one scale, the
// half nearest to amax / 127; codes from that half, in [-127, 127].
using KvStore = void (*)(KvFormat format, std::byte* tile, std::size_t index, const float* key,
                         const float* value) noexcept;

// What is cached of consecutive runs, in one layer and KV head.
struct KvRuns {
  KvFormat format;
  // As many as the positions that are visible to the last query; behind them those that are read
  // after these runs, as far as they are known, so that they can be asked for in time.
  const std::byte* const* tiles;
  std::size_t n_tiles;
};

// Tokens at successive positions, each with the query heads that share a KV head.
struct Queries {
  const float* q;            // head h of token t: [head_dim] from q + t * token_stride
                             // + h * head_dim
  std::size_t token_stride;  // in floats
  std::size_t n_tokens, n_heads;
  // Positions of the runs that the first token sees, at least 1; every later token sees one more,
  // up to all of them.
  std::size_t n_visible;
  std::size_t n_runs;
  float scale;  // of the scores
  // Whether the call's results are joined to those of the runs before, which `out` holds.
  bool continues = false;

  [[nodiscard]] std::size_t visible_to(std::size_t token) const noexcept {
    return n_visible + token < n_runs * kRun ? n_visible + token : n_runs * kRun;
  }
};

inline constexpr std::size_t kMostQueries = 64;  // n_tokens * n_heads of one call

// One query's share of a run, or of several that were joined, before division by the sum.
struct Partial {
  float max;   // largest score
  float sum;   // sum of exp(score - max)
  float* acc;  // [head_dim] sum of exp(score - max) * v
};

// Flash-decoding over runs, whose partials are joined in ascending order. The bits of a query do
// not depend on the others of the call.
//   out [n_tokens, n_heads]
// score[p] = scale * (fma chain over head_dim ascending, from 0); per step of 64: m' = max(m,
// scores), c = exp(m - m'), sum = fma(sum, c, 16-lane sum of p), acc = acc * c, then acc = fma(p,
// v, acc) ascending. Int8 multiplies codes: queries are quantized by head, weights by step
// (docs/performance.md).
using Attend = void (*)(const KvRuns& runs, const Queries& queries, Partial* out) noexcept;

// Joins the partials of ascending runs (at least one, none empty; the first may stand for several
// that attend() joined): y = sum(acc) / sum.  y [head_dim]
using CombineRuns = void (*)(std::span<const Partial> runs, std::size_t head_dim,
                             float* y) noexcept;

struct KernelTable {
  std::string_view isa;  // "scalar", "avx2", "avxvnni", "avx512", "amx", "neon", "i8mm"
  bool (*runs_on_this_cpu)() noexcept;
  Quantize quantize_q8x32;
  Quantize quantize_q8x256;
  MatMul (*matmul)(gguf::DType weights) noexcept;  // every DType has one
  RmsNorm rms_norm;
  Rope rope_adjacent;
  Rope rope_halves;  // pair j is (x[j], x[j + head_dim / 2]): Hugging Face's order
  SwiGlu swiglu;
  Add add;
  KvStore kv_store;
  Attend attend;
  CombineRuns combine_runs;
};

// Best first, scalar last.
std::span<const KernelTable* const> compiled_kernels() noexcept;
// The first table that runs here, or the one that the environment variable SMOL_ISA names; chosen
// once. Throws Error{Unsupported} if SMOL_ISA names none or one that cannot run here.
const KernelTable& active_kernels();

}  // namespace smol::kernels
