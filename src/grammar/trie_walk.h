// The walk over a vocabulary's prefix tree along an automaton, and bits of masks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grammar/lexicon.h"
#include "grammar/vocabulary.h"

namespace smol::grammar {

using MaskWords = std::span<std::uint64_t>;

inline void allow_token(MaskWords mask, TokenId token) noexcept {
  const auto index = static_cast<std::size_t>(token);
  mask[index / 64] |= std::uint64_t{1} << (index % 64);
}

inline void forbid_token(MaskWords mask, TokenId token) noexcept {
  const auto index = static_cast<std::size_t>(token);
  mask[index / 64] &= ~(std::uint64_t{1} << (index % 64));
}

inline bool is_allowed(std::span<const std::uint64_t> mask, TokenId token) noexcept {
  const auto index = static_cast<std::size_t>(token);
  return ((mask[index / 64] >> (index % 64)) & 1U) != 0;
}

// Calls visit(node, state, count) for every node to which its bytes lead from `start`, parents
// first. step(state, byte, count) returns the next state, kDead for none, and may change the count.
template <class Step, class Visit>
void walk_trie(const Vocabulary& vocabulary, LexState start, std::uint32_t start_count, Step step,
               Visit visit) {
  struct Level {
    LexState state;
    std::uint32_t count;
  };

  const auto trie = vocabulary.trie();
  std::vector<Level> levels(Vocabulary::kMaxTokenBytes + 1);
  levels[0] = {start, start_count};
  for (unsigned first = 0; first < 256; ++first) {
    std::uint32_t i = vocabulary.first_level(static_cast<std::uint8_t>(first));
    std::uint32_t count = start_count;
    if (i == 0 || step(start, static_cast<std::uint8_t>(first), count) == kDead) {
      continue;
    }
    for (const std::uint32_t end = trie[i].end; i < end;) {
      const TrieNode& node = trie[i];
      Level level = levels[node.depth - 1U];
      level.state = step(level.state, node.byte, level.count);
      if (level.state == kDead) {
        i = node.end;
        continue;
      }
      levels[node.depth] = level;
      visit(i, level.state, level.count);
      ++i;
    }
  }
}

}  // namespace smol::grammar
