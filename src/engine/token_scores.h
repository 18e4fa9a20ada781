// Logarithms of probabilities of the raw distribution: before biases, penalties, temperature and
// masks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/ids.h"

namespace smol::engine {

struct TokenScores {
  struct Alternative {
    TokenId id;
    double logprob;
  };

  double logprob = 0;            // of the token that was taken
  std::vector<Alternative> top;  // best first, equal ones by id
};

// Requires: `token` in the vocabulary. NaN counts as -infinity.
TokenScores score_token(std::span<const float> logits, TokenId token, std::size_t n_top);

}  // namespace smol::engine
