// How many tokens it takes at least to end a lexeme.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "grammar/lexicon.h"
#include "grammar/vocabulary.h"

namespace smol::grammar {

// Tokens that are enough to end a text or a part of it.
using Cost = std::uint32_t;

// Above any cost; a few of them add up without overflow.
inline constexpr Cost kNever = std::numeric_limits<Cost>::max() / 4;

// Upper bounds that some sequence of tokens keeps: each state's shortest text, cut into the longest
// tokens. Immutable: any thread.
class LexemeCosts {
 public:
  LexemeCosts(const Lexicon& lexicon, const Vocabulary& vocabulary);

  Cost of(LexState state) const noexcept {
    return (state & kSparse) == 0 ? dense_[state] : sparse_[state & ~kSparse];
  }

 private:
  Cost& at(LexState state) noexcept {
    return (state & kSparse) == 0 ? dense_[state] : sparse_[state & ~kSparse];
  }

  std::vector<Cost> dense_, sparse_;
};

}  // namespace smol::grammar
