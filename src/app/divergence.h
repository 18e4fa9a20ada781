// How two models differ on the same text: perplexity of one, and Kullback-Leibler divergence
// between the next-token distributions of both. All in double.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/ids.h"

namespace smol::app {

// log of the sum of exp(logits).
double log_sum_exp(std::span<const float> logits);

// -log p(target).
double negative_log_likelihood(std::span<const float> logits, TokenId target);

// D(reference || tested) = sum p_ref (log p_ref - log p_test), at least 0. Same length.
double kl_divergence(std::span<const float> reference, std::span<const float> tested);

// Index of the largest; the smaller one where two are equal.
std::size_t top_token(std::span<const float> logits);

struct DivergenceSummary {
  double mean = 0.0;
  double percentile_99 = 0.0;  // 99 of 100 positions lie at or below it
  double largest = 0.0;
};

// Requires at least one value.
DivergenceSummary summarize(std::vector<double> divergences);

}  // namespace smol::app
