#include "engine/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "engine/exp_double.h"
#include "model/decoder.h"

namespace smol::engine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// top_k and top_p count in groups of near scores, best group first, and order only the group in
// which they have enough: sorting 128,256 scores would take longer than all the rest.
constexpr std::size_t kGroups = 1024;
constexpr double kGroupsPerUnit = 16;

std::uint16_t group_of(double score) noexcept {
  const double group = -score * kGroupsPerUnit;
  constexpr double kLast = kGroups - 1;
  return static_cast<std::uint16_t>(static_cast<int>(group < kLast ? group : kLast));
}

// Lanes, as one running maximum would wait for each comparison.
double largest_of(std::span<const double> values) noexcept {
  std::array<double, 8> best;
  best.fill(-kInfinity);
  std::size_t i = 0;
  for (; i + best.size() <= values.size(); i += best.size()) {
    for (std::size_t lane = 0; lane < best.size(); ++lane) {
      best[lane] = values[i + lane] > best[lane] ? values[i + lane] : best[lane];
    }
  }
  for (; i < values.size(); ++i) {
    best[0] = std::max(best[0], values[i]);
  }
  return *std::max_element(best.begin(), best.end());
}

}  // namespace

Sampler::Sampler(SamplingSettings settings, std::size_t vocab_size)
    : settings_(std::move(settings)),
      seed_(settings_.seed ? *settings_.seed : random_seed()),
      random_(seed_),
      vocab_size_(vocab_size),
      counts_(vocab_size) {
  validate(settings_, vocab_size);
}

TokenId Sampler::pick(std::span<const float> logits, std::span<const TokenId> history,
                      std::span<const std::uint64_t> mask, std::span<const float> maxima) {
  filter(logits, history, mask, maxima);
  const double target = random_.uniform() * total_weight();
  double sum = 0;
  std::size_t picked = 0;
  for (std::size_t i = 0; i < weights_.size() && sum <= target; ++i) {
    if (weights_[i] > 0) {
      sum += weights_[i];
      picked = i;
    }
  }
  return static_cast<TokenId>(id_of(picked));
}

std::vector<double> Sampler::probabilities(std::span<const float> logits,
                                           std::span<const TokenId> history,
                                           std::span<const std::uint64_t> mask,
                                           std::span<const float> maxima) {
  filter(logits, history, mask, maxima);
  const double total = total_weight();
  std::vector<double> result(vocab_size_);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    result[id_of(i)] = weights_[i] / total;
  }
  return result;
}

double Sampler::total_weight() const noexcept {
  double total = 0;
  for (const double weight : weights_) {
    total += weight;
  }
  return total;
}

void Sampler::filter(std::span<const float> logits, std::span<const TokenId> history,
                     std::span<const std::uint64_t> mask, std::span<const float> maxima) {
  SMOL_CHECK(logits.size() == vocab_size_);
  ids_.clear();
  if (const std::size_t n_kept = most_kept();
      n_kept < maxima.size() && mask.empty() && !changes_logits()) {
    choose_candidates(maxima, n_kept);
  }
  adjust(logits, history);
  apply(mask);
  const double largest = largest_of(scores_);
  if (!std::isfinite(largest)) {
    throw Error(ErrorCode::Device, "logits: expected finite numbers, found none or an infinity");
  }
  if (settings_.temperature == 0) {
    std::ranges::fill(weights_, 0.0);
    const auto best = std::ranges::find(scores_, largest) - scores_.begin();
    weights_[static_cast<std::size_t>(best)] = 1;
    return;
  }
  scale(largest);
  exp_doubles(scores_, weights_);
  if (settings_.top_k != 0 && settings_.top_k < scores_.size()) {
    keep_best(Measure::Count, static_cast<double>(settings_.top_k));
  }
  if (settings_.top_p < 1) {
    keep_best(Measure::Weight, settings_.top_p);
  }
  if (settings_.min_p > 0) {
    // The largest weight is exp(0) = 1.
    std::ranges::replace_if(
        weights_, [&](double weight) { return weight < settings_.min_p; }, 0.0);
  }
}

// How many ids a pick may choose among at most.
std::size_t Sampler::most_kept() const noexcept {
  if (settings_.temperature == 0) {
    return 1;
  }
  return settings_.top_k == 0 ? vocab_size_ : settings_.top_k;
}

// Those that stand with a maximum among the n_kept largest: the n_kept largest logits and all that
// are equal to the last of them are there.
void Sampler::choose_candidates(std::span<const float> maxima, std::size_t n_kept) {
  best_.assign(maxima.begin(), maxima.end());
  const auto last = best_.begin() + static_cast<std::ptrdiff_t>(n_kept - 1);
  std::nth_element(best_.begin(), last, best_.end(), std::greater<>());
  for (std::size_t i = 0; i < maxima.size(); ++i) {
    const std::size_t end = std::min((i + 1) * model::kMaximumIds, vocab_size_);
    for (std::size_t id = i * model::kMaximumIds; maxima[i] >= *last && id < end; ++id) {
      ids_.push_back(static_cast<std::uint32_t>(id));
    }
  }
}

void Sampler::adjust(std::span<const float> logits, std::span<const TokenId> history) {
  scores_.resize(ids_.empty() ? vocab_size_ : ids_.size());
  weights_.resize(scores_.size());
  groups_.resize(scores_.size());
  const auto score_of = [](float logit) {
    return std::isnan(logit) ? -kInfinity : static_cast<double>(logit);
  };
  if (ids_.empty()) {
    std::ranges::transform(logits, scores_.begin(), score_of);
  } else {
    std::ranges::transform(ids_, scores_.begin(),
                           [&](std::uint32_t id) { return score_of(logits[id]); });
  }
  for (const LogitBias& entry : settings_.logit_bias) {
    scores_[static_cast<std::size_t>(entry.id)] += entry.bias;
  }
  penalize(history);
}

void Sampler::apply(std::span<const std::uint64_t> mask) {
  constexpr std::size_t kBits = 64;
  if (mask.empty()) {
    return;
  }
  SMOL_CHECK(mask.size() * kBits >= scores_.size());
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    const bool allowed = ((mask[i / kBits] >> (i % kBits)) & 1U) != 0;
    scores_[i] = allowed ? scores_[i] : -kInfinity;
  }
}

bool Sampler::changes_logits() const noexcept {
  return !settings_.logit_bias.empty() || penalizes();
}

bool Sampler::penalizes() const noexcept {
  return settings_.repetition_penalty != 1 || settings_.presence_penalty != 0 ||
         settings_.frequency_penalty != 0;
}

void Sampler::penalize(std::span<const TokenId> history) {
  if (!penalizes()) {
    return;
  }
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

void Sampler::scale(double largest) {
  const double temperature = settings_.temperature;
  for (double& score : scores_) {
    // The difference first: it cannot overflow to a NaN, however small the temperature.
    score = (score - largest) / temperature;
  }
}

void Sampler::keep_best(Measure measure, double enough) {
  const auto amount = [&](std::size_t i) { return measure == Measure::Count ? 1 : weights_[i]; };
  std::array<double, kGroups> sums{};
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    groups_[i] = group_of(scores_[i]);
    sums[groups_[i]] += amount(i);
  }
  if (measure == Measure::Weight) {
    enough *= std::accumulate(sums.begin(), sums.end(), 0.0);
  }
  // A token stays while the better ones together are not enough.
  double before = 0;
  std::size_t border = 0;
  while (border + 1 < kGroups && before + sums[border] < enough) {
    before += sums[border];
    ++border;
  }
  std::vector<std::size_t> undecided;
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    if (groups_[i] == border) {
      undecided.push_back(i);
    } else if (groups_[i] > border) {
      weights_[i] = 0;
    }
  }
  std::ranges::sort(undecided, [&](std::size_t a, std::size_t b) {
    return scores_[a] != scores_[b] ? scores_[a] > scores_[b] : a < b;
  });
  for (const std::size_t i : undecided) {
    const double own = amount(i);
    if (before >= enough) {
      weights_[i] = 0;
    }
    before += own;
  }
}

}  // namespace smol::engine
