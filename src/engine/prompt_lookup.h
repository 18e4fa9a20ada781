// Drafts without a second model: what followed the last tokens when they stood in the text before
// (prompt lookup, Saxena 2023). Their number follows what was accepted lately.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "engine/step_speed.h"

namespace smol::engine {

// One sequence; one thread.
class PromptLookup {
 public:
  static constexpr std::size_t kMostDrafted = 7;

  // The text grows by these tokens.
  void append(std::span<const TokenId> tokens);

  // What may follow: at most `most` tokens, as many as are worth their cost beside `n_writing`
  // other tokens of a step; none where nothing matches or drafts do not pay.
  std::vector<TokenId> draft(std::size_t most, std::size_t n_writing, const StepSpeed& speed);

  // Of the last draft so many were tried, and so many picked by the sampler, too.
  void took(std::size_t n_drafted, std::size_t n_accepted) noexcept;

 private:
  static constexpr std::size_t kMatch = 3;  // tokens that must agree
  // Longer matches are more trustworthy: each class has its own rate.
  static constexpr std::size_t kLongMatch = 8;

  struct Match {
    std::size_t next = 0;    // position of the token that followed
    std::size_t length = 0;  // tokens before it that agree, counted up to kLongMatch; 0: none
  };

  std::uint64_t last_key() const noexcept;
  Match find() const;
  std::size_t worthwhile(std::size_t most, std::size_t n_writing, const StepSpeed& speed) noexcept;

  std::vector<TokenId> text_;
  std::unordered_map<std::uint64_t, std::uint32_t>
      next_of_;                            // kMatch tokens -> the position behind
  std::array<double, 2> rates_{0.4, 0.8};  // share of drafted tokens that are accepted, by class
  std::size_t last_class_ = 0;
};

}  // namespace smol::engine
