#include "app/divergence.h"

#include <algorithm>
#include <cmath>

namespace smol::app {

double log_sum_exp(std::span<const float> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - largest);
  }
  return largest + std::log(sum);
}

double negative_log_likelihood(std::span<const float> logits, TokenId target) {
  return log_sum_exp(logits) - static_cast<double>(logits[static_cast<std::size_t>(target)]);
}

double kl_divergence(std::span<const float> reference, std::span<const float> tested) {
  const double reference_total = log_sum_exp(reference);
  const double tested_total = log_sum_exp(tested);
  double divergence = 0.0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double log_p = static_cast<double>(reference[i]) - reference_total;
    const double log_q = static_cast<double>(tested[i]) - tested_total;
    divergence += std::exp(log_p) * (log_p - log_q);
  }
  return std::max(divergence, 0.0);
}

std::size_t top_token(std::span<const float> logits) {
  return static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

DivergenceSummary summarize(std::vector<double> divergences) {
  std::sort(divergences.begin(), divergences.end());
  double sum = 0.0;
  for (const double divergence : divergences) {
    sum += divergence;
  }
  const std::size_t rank = (divergences.size() * 99 + 99) / 100;
  return {.mean = sum / static_cast<double>(divergences.size()),
          .percentile_99 = divergences[rank - 1],
          .largest = divergences.back()};
}

}  // namespace smol::app
