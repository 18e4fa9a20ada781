#include "engine/prompt_lookup.h"

#include <algorithm>

namespace smol::engine {
namespace {

constexpr double kRateFollows = 0.25;  // weight of the latest draft in its rate
// A step without a draft brings a low rate back a little, so that copying is noticed when it
// begins later.
constexpr double kRecovery = 1.0 / 256;
constexpr double kRecoversTo = 0.3;
constexpr double kLeastGain = 1.02;

}  // namespace

std::uint64_t PromptLookup::last_key() const noexcept {
  std::uint64_t key = 0;
  for (std::size_t i = text_.size() - kMatch; i < text_.size(); ++i) {
    key = (key ^ static_cast<std::uint64_t>(text_[i])) * 0x9E3779B97F4A7C15U;
    key ^= key >> 29U;
  }
  return key;
}

void PromptLookup::append(std::span<const TokenId> tokens) {
  for (const TokenId token : tokens) {
    if (text_.size() >= kMatch) {
      next_of_[last_key()] = static_cast<std::uint32_t>(text_.size());
    }
    text_.push_back(token);
  }
}

PromptLookup::Match PromptLookup::find() const {
  if (text_.size() < kMatch) {
    return {};
  }
  const auto found = next_of_.find(last_key());
  if (found == next_of_.end()) {
    return {};
  }
  Match match{found->second, 0};
  const std::size_t longest = std::min(match.next, kLongMatch);
  while (match.length < longest &&
         text_[match.next - 1 - match.length] == text_[text_.size() - 1 - match.length]) {
    ++match.length;
  }
  return match.length >= kMatch ? match : Match{};
}

std::vector<TokenId> PromptLookup::draft(std::size_t most, std::size_t n_writing,
                                         const StepSpeed& speed) {
  const Match match = find();
  std::size_t size = 0;
  if (match.length > 0) {
    last_class_ = match.length >= kLongMatch ? 1 : 0;
    size = worthwhile(std::min(most, kMostDrafted), n_writing, speed);
  }
  if (size == 0) {
    for (double& rate : rates_) {
      rate += std::max(kRecoversTo - rate, 0.0) * kRecovery;
    }
  }
  std::vector<TokenId> draft;
  const std::size_t period = text_.size() - match.next;
  for (std::size_t i = 0; i < size; ++i) {
    draft.push_back(i < period ? text_[match.next + i] : draft[i - period]);
  }
  return draft;
}

// The size with the most tokens a time, if that is more than without a draft.
std::size_t PromptLookup::worthwhile(std::size_t most, std::size_t n_writing,
                                     const StepSpeed& speed) noexcept {
  const double rate = rates_[last_class_];
  double best_gain = kLeastGain;
  std::size_t best = 0;
  double reached = 1;  // probability that the first `size` drafted tokens are all accepted
  double expected = 1;
  for (std::size_t size = 1; size <= most; ++size) {
    reached *= rate;
    expected += reached;
    const double gain = expected / speed.relative_cost(n_writing, n_writing + size);
    if (gain > best_gain) {
      best_gain = gain;
      best = size;
    }
  }
  return best;
}

void PromptLookup::took(std::size_t n_drafted, std::size_t n_accepted) noexcept {
  if (n_drafted == 0) {
    return;
  }
  const std::size_t n_tried = std::min(n_accepted + 1, n_drafted);
  const double share = static_cast<double>(n_accepted) / static_cast<double>(n_tried);
  rates_[last_class_] += (share - rates_[last_class_]) * kRateFollows;
}

}  // namespace smol::engine
