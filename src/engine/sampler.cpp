#include "engine/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "engine/exp_double.h"

namespace smol::engine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// top_p sums weights in groups of near scores, best group first, and orders only the group in which
// the sum is reached: sorting 128,256 candidates would take longer than all the rest.
constexpr std::size_t kGroups = 1024;
constexpr double kGroupsPerUnit = 16;

std::size_t group_of(double score) noexcept {
  const double group = -score * kGroupsPerUnit;
  return group < static_cast<double>(kGroups - 1) ? static_cast<std::size_t>(group) : kGroups - 1;
}

}  // namespace

Sampler::Sampler(SamplingSettings settings, std::size_t vocab_size)
    : settings_(std::move(settings)),
      seed_(settings_.seed ? *settings_.seed : random_seed()),
      random_(seed_),
      scores_(vocab_size) {
  validate(settings_, vocab_size);
}

TokenId Sampler::pick(std::span<const float> logits, std::span<const TokenId> history) {
  filter(logits, history);
  const double drawn = random_.uniform();
  double total = 0;
  for (const Candidate& candidate : candidates_) {
    total += candidate.weight;
  }
  const double target = drawn * total;
  double sum = 0;
  TokenId last = candidates_.front().id;
  for (const Candidate& candidate : candidates_) {
    sum += candidate.weight;
    if (candidate.weight > 0) {
      last = candidate.id;
    }
    if (sum > target) {
      break;
    }
  }
  return last;
}

std::vector<double> Sampler::probabilities(std::span<const float> logits,
                                           std::span<const TokenId> history) {
  filter(logits, history);
  double total = 0;
  for (const Candidate& candidate : candidates_) {
    total += candidate.weight;
  }
  std::vector<double> result(scores_.size());
  for (const Candidate& candidate : candidates_) {
    result[static_cast<std::size_t>(candidate.id)] = candidate.weight / total;
  }
  return result;
}

void Sampler::filter(std::span<const float> logits, std::span<const TokenId> history) {
  SMOL_CHECK(logits.size() == scores_.size());
  adjust(logits, history);
  const TokenId best = largest();
  const double best_score = scores_[static_cast<std::size_t>(best)];
  if (!std::isfinite(best_score)) {
    throw Error(ErrorCode::Device, "logits: expected finite numbers, found none or an infinity");
  }
  candidates_.clear();
  if (settings_.temperature == 0) {
    candidates_.push_back({0, 1, best});
    return;
  }
  collect_candidates(best_score);
  keep_top_k();
  for (Candidate& candidate : candidates_) {
    candidate.weight = exp_double(candidate.score);
  }
  keep_top_p();
  keep_min_p();
}

void Sampler::adjust(std::span<const float> logits, std::span<const TokenId> history) {
  std::ranges::transform(logits, scores_.begin(), [](float logit) {
    return std::isnan(logit) ? -kInfinity : static_cast<double>(logit);
  });
  for (const LogitBias& entry : settings_.logit_bias) {
    scores_[static_cast<std::size_t>(entry.id)] += entry.bias;
  }
  penalize(history);
}

void Sampler::penalize(std::span<const TokenId> history) {
  if (settings_.repetition_penalty == 1 && settings_.presence_penalty == 0 &&
      settings_.frequency_penalty == 0) {
    return;
  }
  counts_.resize(scores_.size());
  const auto in_vocabulary = [&](TokenId id) {
    return id >= 0 && static_cast<std::size_t>(id) < scores_.size();
  };
  for (const TokenId id : history) {
    if (in_vocabulary(id)) {
      ++counts_[static_cast<std::size_t>(id)];
    }
  }
  for (const TokenId id : history) {
    if (!in_vocabulary(id)) {
      continue;
    }
    std::uint32_t& count = counts_[static_cast<std::size_t>(id)];
    if (count == 0) {
      continue;  // done at an earlier occurrence
    }
    double& score = scores_[static_cast<std::size_t>(id)];
    score = score < 0 ? score * settings_.repetition_penalty : score / settings_.repetition_penalty;
    score -= count * settings_.frequency_penalty + settings_.presence_penalty;
    count = 0;
  }
}

TokenId Sampler::largest() const {
  return static_cast<TokenId>(std::ranges::max_element(scores_) - scores_.begin());
}

void Sampler::collect_candidates(double largest_score) {
  candidates_.reserve(scores_.size());
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    // The difference first: it cannot overflow to a NaN, however small the temperature.
    const double score = (scores_[i] - largest_score) / settings_.temperature;
    candidates_.push_back({score, 0, static_cast<TokenId>(i)});
  }
}

void Sampler::keep_top_k() {
  const std::size_t k = settings_.top_k;
  if (k == 0 || k >= candidates_.size()) {
    return;
  }
  const auto better = [](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score > b.score : a.id < b.id;
  };
  const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(k);
  std::nth_element(candidates_.begin(), end - 1, candidates_.end(), better);
  candidates_.erase(end, candidates_.end());
  std::ranges::sort(candidates_, {}, &Candidate::id);
}

void Sampler::keep_top_p() {
  if (settings_.top_p >= 1) {
    return;
  }
  std::array<double, kGroups> sums{};
  for (const Candidate& candidate : candidates_) {
    sums[group_of(candidate.score)] += candidate.weight;
  }
  double total = 0;
  for (const double sum : sums) {
    total += sum;
  }
  // A candidate stays while the better ones together have less than top_p.
  const double enough = settings_.top_p * total;
  double before = 0;
  std::size_t border = 0;
  while (border + 1 < kGroups && before + sums[border] < enough) {
    before += sums[border];
    ++border;
  }
  std::vector<Candidate> undecided;
  std::ranges::copy_if(candidates_, std::back_inserter(undecided),
                       [&](const Candidate& one) { return group_of(one.score) == border; });
  std::ranges::sort(undecided, [](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score > b.score : a.id < b.id;
  });
  std::size_t n_kept = 0;
  while (n_kept < undecided.size() && before < enough) {
    before += undecided[n_kept].weight;
    ++n_kept;
  }
  undecided.resize(n_kept);
  std::erase_if(candidates_, [&](const Candidate& one) { return group_of(one.score) >= border; });
  std::ranges::sort(undecided, {}, &Candidate::id);
  const auto middle = static_cast<std::ptrdiff_t>(candidates_.size());
  candidates_.insert(candidates_.end(), undecided.begin(), undecided.end());
  std::ranges::inplace_merge(candidates_, candidates_.begin() + middle, {}, &Candidate::id);
}

void Sampler::keep_min_p() {
  // The largest weight is exp(0) = 1.
  if (settings_.min_p > 0) {
    std::erase_if(candidates_, [&](const Candidate& one) { return one.weight < settings_.min_p; });
  }
}

}  // namespace smol::engine
