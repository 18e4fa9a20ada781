// How many tokens it takes at least to end a text: so that an answer with few tokens left can be
// led to its end.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "grammar/grammar.h"
#include "grammar/vocabulary.h"

namespace smol::grammar {

// Upper bounds that some sequence of tokens keeps: the shortest text of each lexeme, cut into the
// longest tokens; no token spans two lexemes. Immutable: any thread.
class ShortestEnd {
 public:
  using Cost = std::uint32_t;

  static constexpr Cost kNever = std::numeric_limits<Cost>::max() / 4;

  ShortestEnd(const Grammar& grammar, const Vocabulary& vocabulary);

  // Tokens from a state to the end of its rule.
  Cost of(RuleState state) const noexcept { return states_[state]; }

  // Tokens to the end of a lexeme in which `missing` characters must still come, if it is counted.
  Cost of_counted(LexState state, std::uint32_t missing) const noexcept;

  // The most that one more part of the text can add.
  Cost largest() const noexcept { return largest_; }

 private:
  void measure_lexemes(const Lexicon& lexicon, const Vocabulary& vocabulary);
  void measure_states(const Rules& rules);

  Cost of_lexeme(LexState state) const noexcept {
    return (state & kSparse) == 0 ? dense_[state] : sparse_[state & ~kSparse];
  }

  std::vector<Cost> dense_, sparse_, states_;
  std::uint32_t run_ = 1;
  Cost largest_ = 0;
};

}  // namespace smol::grammar
