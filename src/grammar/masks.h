// The masks of a grammar over a vocabulary. Those of the common states are made once a vocabulary,
// all others on first use, and kept.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "grammar/grammar.h"
#include "grammar/lex_mask.h"
#include "grammar/shortest_end.h"
#include "grammar/trie_walk.h"
#include "grammar/vocabulary.h"

namespace smol::grammar {

// Tokens inside of a JSON string by their number of characters, for strings of bounded length.
class StringMasks {
 public:
  StringMasks(const Vocabulary& vocabulary, const LexemeCosts& common_costs);

  // What must follow: `min` to `max` characters, and an end within less than `below` tokens.
  struct Bounds {
    std::uint32_t min, max;
    Cost below;
  };

  // Adds the tokens that fit; returns into `exits` the nodes with children behind a closing quote.
  void add_to(MaskWords mask, const Bounds& bounds, std::vector<std::uint32_t>& exits) const;

  // For every number of characters up to this one there is a token.
  std::uint32_t longest_run() const noexcept { return longest_run_; }

 private:
  static constexpr std::uint32_t kTable = 16;

  struct Counted {
    TokenId token;
    std::uint32_t n_characters;
  };

  struct Partial {  // ends inside of a character or an escape
    TokenId token;
    std::uint32_t n_characters;  // whole ones
    Cost cost;                   // to end the string where no more must follow
  };

  struct Closing {
    TokenId token;       // -1: none
    std::uint32_t node;  // 0: without children
    std::uint32_t n_characters;
  };

  void add_whole(MaskWords mask, const Bounds& bounds) const;
  void add_partial(MaskWords mask, const Bounds& bounds) const;

  // [n] Tokens of at most n whole characters.
  std::array<std::vector<std::uint64_t>, kTable + 1> within_;
  std::uint32_t longest_run_ = 1;
  Cost closing_cost_;
  std::vector<Counted> longer_;  // by number of characters
  std::vector<Partial> partial_;
  std::vector<Closing> closing_;  // tokens that end with ", and such nodes with children
};

// The masks of the common states, shared by all grammars of a vocabulary. Any thread.
class SharedMasks {
 public:
  explicit SharedMasks(const Vocabulary& vocabulary);

  const LexMask& of(LexState common_state) const noexcept { return masks_[common_state]; }

  const StringMasks& strings() const noexcept { return strings_; }

 private:
  LexemeCosts costs_;
  std::vector<LexMask> masks_;
  StringMasks strings_;
};

// A grammar over a vocabulary. Its construction is a part of compiling: not for an engine's thread.
// Then any thread.
class TokenGrammar {
 public:
  static constexpr std::size_t kMaxCacheBytes = 64U << 20U;

  TokenGrammar(std::shared_ptr<const Grammar> grammar,
               std::shared_ptr<const Vocabulary> vocabulary);

  const std::shared_ptr<const Grammar>& grammar() const noexcept { return grammar_; }

  const Vocabulary& vocabulary() const noexcept { return *vocabulary_; }

  // Valid as long as this object; or, once the cache is full, as long as `spare`.
  const LexMask& mask_of(LexState state, LexMask& spare) const;

  const ShortestEnd& shortest_end() const noexcept { return shortest_end_; }

 private:
  LexMask make(LexState state) const;

  std::shared_ptr<const Grammar> grammar_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  ShortestEnd shortest_end_;
  mutable std::vector<std::atomic<const LexMask*>> dense_, sparse_;  // into kept_
  mutable std::mutex mutex_;
  mutable std::deque<LexMask> kept_;
  mutable std::size_t cache_bytes_ = 0;
};

}  // namespace smol::grammar
