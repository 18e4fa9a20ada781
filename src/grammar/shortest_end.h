// How many tokens it takes at least to end a text: so that an answer with few tokens left can be
// led to its end.
#pragma once

#include <cstdint>
#include <vector>

#include "grammar/grammar.h"
#include "grammar/lexeme_costs.h"
#include "grammar/vocabulary.h"

namespace smol::grammar {

// Upper bounds that some sequence of tokens keeps; no token spans two lexemes. Immutable: any
// thread.
class ShortestEnd {
 public:
  ShortestEnd(const Grammar& grammar, const Vocabulary& vocabulary);

  const LexemeCosts& lexemes() const noexcept { return lexemes_; }

  // Tokens from a state to the end of its rule.
  Cost of(RuleState state) const noexcept { return states_[state]; }

  // Tokens to the end of a lexeme in which `missing` characters must still come, if it is counted.
  Cost of_counted(LexState state, std::uint32_t missing) const noexcept;

 private:
  void measure_states(const Rules& rules);

  LexemeCosts lexemes_;
  std::uint32_t run_;
  std::vector<Cost> states_;
};

}  // namespace smol::grammar
