#include "engine/token_scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/exp_double.h"

namespace smol::engine {
namespace {

double score_of(float logit) noexcept {
  return std::isnan(logit) ? -std::numeric_limits<double>::infinity() : logit;
}

double log_of_sum(std::span<const float> logits, double largest) {
  constexpr std::size_t kChunk = 256;
  std::array<double, kChunk> scores{};
  double sum = 0;
  for (std::size_t begin = 0; begin < logits.size(); begin += kChunk) {
    const std::size_t size = std::min(kChunk, logits.size() - begin);
    for (std::size_t i = 0; i < size; ++i) {
      scores[i] = score_of(logits[begin + i]) - largest;
    }
    const std::span<double> chunk = std::span(scores).first(size);
    exp_doubles(chunk, chunk);
    for (const double weight : chunk) {
      sum += weight;
    }
  }
  return largest + std::log(sum);
}

}  // namespace

TokenScores score_token(std::span<const float> logits, TokenId token, std::size_t n_top) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const float logit : logits) {
    largest = std::max(largest, score_of(logit));
  }
  const double log_sum = log_of_sum(logits, largest);
  TokenScores out;
  out.logprob = score_of(logits[static_cast<std::size_t>(token)]) - log_sum;

  const auto better = [](const TokenScores::Alternative& a, const TokenScores::Alternative& b) {
    return a.logprob != b.logprob ? a.logprob > b.logprob : a.id < b.id;
  };
  n_top = std::min(n_top, logits.size());
  for (std::size_t i = 0; i < logits.size() && n_top > 0; ++i) {
    const TokenScores::Alternative one{static_cast<TokenId>(i), score_of(logits[i]) - log_sum};
    if (out.top.size() == n_top && !better(one, out.top.back())) {
      continue;
    }
    out.top.insert(std::ranges::upper_bound(out.top, one, better), one);
    if (out.top.size() > n_top) {
      out.top.pop_back();
    }
  }
  return out;
}

}  // namespace smol::engine
