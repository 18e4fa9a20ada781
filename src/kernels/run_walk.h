// How the queries of a call walk through its runs and their steps: the same in every instruction
// set.
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "kernels/kernel_table.h"

namespace smol::kernels {

inline constexpr float kNegativeInfinity = -std::numeric_limits<float>::infinity();

inline void start(const Queries& queries, std::size_t head_dim, Partial* out) noexcept {
  for (std::size_t i = 0; i < queries.n_tokens * queries.n_heads; ++i) {
    out[i].max = kNegativeInfinity;
    out[i].sum = 0.0F;
    std::fill_n(out[i].acc, head_dim, 0.0F);
  }
}

// Steps that the last token sees something of.
inline std::size_t n_steps(const Queries& queries) noexcept {
  return (queries.visible_to(queries.n_tokens - 1) + kStep - 1) / kStep;
}

// The first token that sees something of a step: every later one does, too.
inline std::size_t first_token(const Queries& queries, std::size_t step) noexcept {
  const std::size_t before = step * kStep;
  return before < queries.n_visible ? 0 : before + 1 - queries.n_visible;
}

// Positions of the step that such a token sees.
inline std::size_t visible_in(const Queries& queries, std::size_t token,
                              std::size_t step) noexcept {
  return std::min(kStep, queries.visible_to(token) - step * kStep);
}

// Those queries of a call that see something of one of its runs, as a call of that run alone.
inline Queries queries_of_run(const Queries& queries, std::size_t run) noexcept {
  const std::size_t before = run * kRun;
  const std::size_t hidden = first_token(queries, run * kTilesPerRun);
  Queries some = queries;
  some.q += hidden * queries.token_stride;
  some.n_tokens -= hidden;
  some.n_visible = std::min(queries.visible_to(hidden) - before, kRun);
  some.n_runs = 1;
  some.continues = false;
  return some;
}

// attend_run(runs, queries, out) for each run of a call; join(run, head_dim, into) joins what they
// give.
template <class AttendRun, class Join>
void attend_each_run(const KvRuns& runs, const Queries& queries, Partial* out,
                     const AttendRun& attend_run, const Join& join) noexcept {
  const std::size_t dim = runs.format.head_dim;
  std::array<float, kMostQueries * kMostHeadDim> acc;
  std::array<Partial, kMostQueries> parts;
  for (std::size_t run = 0; run * kTilesPerRun < n_steps(queries); ++run) {
    const KvRuns from{runs.format, runs.tiles + run * kTilesPerRun,
                      runs.n_tiles - run * kTilesPerRun};
    const Queries some = queries_of_run(queries, run);
    Partial* into = out + (queries.n_tokens - some.n_tokens) * queries.n_heads;
    if (run == 0 && !queries.continues) {
      attend_run(from, some, into);
      continue;
    }
    const std::size_t n = some.n_tokens * some.n_heads;
    for (std::size_t i = 0; i < n; ++i) {
      parts[i].acc = acc.data() + i * dim;
    }
    attend_run(from, some, parts.data());
    for (std::size_t i = 0; i < n; ++i) {
      join(parts[i], dim, into[i]);
    }
  }
}

}  // namespace smol::kernels
