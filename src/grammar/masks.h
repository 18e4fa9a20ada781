// The masks of a grammar's lexemes over a vocabulary: which tokens fit from a state on, and where
// in the prefix tree the lexeme may end inside of a token. Made on first use and kept.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "grammar/grammar.h"
#include "grammar/shortest_end.h"
#include "grammar/trie_walk.h"
#include "grammar/vocabulary.h"

namespace smol::grammar {

// Of one state of a lexicon.
struct LexMask {
  // Tokens that stay inside of the lexeme or end it: as bits where they are many, else as a list.
  std::vector<std::uint64_t> bits;
  std::vector<TokenId> tokens;
  // Nodes with children at which the lexeme may end.
  std::vector<std::uint32_t> exits;

  void add_to(MaskWords mask) const noexcept;
  std::size_t size_bytes() const noexcept;
};

LexMask make_mask(const Lexicon& lexicon, const Vocabulary& vocabulary, LexState state);

// Tokens inside of a JSON string by their number of characters, for strings of bounded length.
class StringMasks {
 public:
  explicit StringMasks(const Vocabulary& vocabulary);

  // Adds the tokens that fit where at least `min` and at most `max` more characters must follow;
  // returns into `exits` the nodes with children behind a closing quote.
  void add_to(MaskWords mask, std::uint32_t min, std::uint32_t max,
              std::vector<std::uint32_t>& exits) const;

  // For every number of characters up to this one there is a token.
  std::uint32_t longest_run() const noexcept { return longest_run_; }

 private:
  static constexpr std::uint32_t kTable = 16;

  struct Counted {
    TokenId token;
    std::uint32_t node;
    std::uint32_t n_characters;
  };

  std::vector<std::vector<std::uint64_t>> within_;  // [n_characters 0..kTable]
  std::uint32_t longest_run_ = 1;
  std::vector<Counted> longer_;   // by number of characters
  std::vector<Counted> closing_;  // tokens that end with ", and such nodes with children (else 0)
};

// The masks of the common states, shared by all grammars of a vocabulary. Any thread.
class SharedMasks {
 public:
  explicit SharedMasks(const Vocabulary& vocabulary);
  ~SharedMasks();
  SharedMasks(const SharedMasks&) = delete;
  SharedMasks& operator=(const SharedMasks&) = delete;
  SharedMasks(SharedMasks&&) = delete;
  SharedMasks& operator=(SharedMasks&&) = delete;

  const LexMask& of(LexState common_state) const noexcept { return masks_[common_state]; }

  const StringMasks& strings() const noexcept { return strings_; }

 private:
  std::vector<LexMask> masks_;
  StringMasks strings_;
};

// A grammar over a vocabulary. Any thread.
class TokenGrammar {
 public:
  static constexpr std::size_t kMaxCacheBytes = 64U << 20U;

  TokenGrammar(std::shared_ptr<const Grammar> grammar,
               std::shared_ptr<const Vocabulary> vocabulary);
  ~TokenGrammar();
  TokenGrammar(const TokenGrammar&) = delete;
  TokenGrammar& operator=(const TokenGrammar&) = delete;
  TokenGrammar(TokenGrammar&&) = delete;
  TokenGrammar& operator=(TokenGrammar&&) = delete;

  const std::shared_ptr<const Grammar>& grammar() const noexcept { return grammar_; }

  const Vocabulary& vocabulary() const noexcept { return *vocabulary_; }

  // Valid as long as this object; or, once the cache is full, as long as `spare`.
  const LexMask& mask_of(LexState state, LexMask& spare) const;

  // Measured on first use.
  const ShortestEnd& shortest_end() const;

 private:
  std::shared_ptr<const Grammar> grammar_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  mutable std::once_flag measured_;
  mutable std::optional<ShortestEnd> shortest_end_;
  mutable std::vector<std::atomic<const LexMask*>> dense_, sparse_;  // into kept_
  mutable std::mutex mutex_;
  mutable std::deque<LexMask> kept_;
  mutable std::size_t cache_bytes_ = 0;
};

}  // namespace smol::grammar
