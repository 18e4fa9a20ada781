// The mask of one state of a lexicon: which tokens fit from there, and where in the prefix tree the
// lexeme may end inside of a token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grammar/lexeme_costs.h"
#include "grammar/trie_walk.h"
#include "grammar/vocabulary.h"

namespace smol::grammar {

// Tokens that stay inside of the lexeme or end it.
struct LexMask {
  // Those behind which it takes `cost` more tokens to end the lexeme: as bits where they are many,
  // else as a list.
  struct Level {
    Cost cost;
    std::vector<std::uint64_t> bits;
    std::vector<TokenId> tokens;
  };

  std::vector<Level> levels;  // cheapest first
  // Besides them those of another mask, which must outlive this one, but for `without`.
  const LexMask* base = nullptr;
  std::vector<TokenId> without;
  // Nodes with children at which the lexeme may end, in preorder.
  std::vector<std::uint32_t> exits;

  // Adds the tokens behind which the lexeme ends within less than `below` tokens.
  void add_to(MaskWords mask, Cost below) const;
  std::size_t size_bytes() const noexcept;
};

LexMask make_mask(const Lexicon& lexicon, const Vocabulary& vocabulary, const LexemeCosts& costs,
                  LexState state);

// The same for a state that is like a common one, whose mask is `base`.
LexMask make_mask_like(const Lexicon& lexicon, const Vocabulary& vocabulary,
                       const LexemeCosts& costs, LexState state, const LexMask& base);

}  // namespace smol::grammar
