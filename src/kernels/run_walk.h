// How the queries of a call walk through the steps of a run: the same in every instruction set.
#pragma once

#include <algorithm>
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

}  // namespace smol::kernels
