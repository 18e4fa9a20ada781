#include "grammar/lexeme_costs.h"

#include <algorithm>

namespace smol::grammar {
namespace {

// Where the longest token along the state's shortest text leads; kDead: no token fits.
LexState behind_longest_token(const Lexicon& lexicon, const Vocabulary& vocabulary,
                              LexState state) {
  const auto trie = vocabulary.trie();
  LexState longest = kDead;
  std::uint32_t node = vocabulary.first_level(lexicon.nearest_byte(state));
  while (node != 0) {
    state = lexicon.next(state, trie[node].byte);
    longest = trie[node].token >= 0 ? state : longest;
    node = lexicon.distance(state) > 0 ? vocabulary.child(node, lexicon.nearest_byte(state)) : 0;
  }
  return longest;
}

}  // namespace

LexemeCosts::LexemeCosts(const Lexicon& lexicon, const Vocabulary& vocabulary)
    : dense_(lexicon.dense_size(), kNever), sparse_(lexicon.sparse_size(), kNever) {
  // A token leads to a state that is nearer to the lexeme's end.
  std::vector<LexState> order;
  order.reserve(dense_.size() + sparse_.size());
  for (LexState state = 1; state < dense_.size(); ++state) {
    order.push_back(state);
  }
  for (LexState index = 0; index < sparse_.size(); ++index) {
    order.push_back(index | kSparse);
  }
  std::sort(order.begin(), order.end(),
            [&](LexState a, LexState b) { return lexicon.distance(a) < lexicon.distance(b); });
  for (const LexState state : order) {
    if (lexicon.distance(state) == 0) {
      at(state) = 0;
    } else if (const LexState next = behind_longest_token(lexicon, vocabulary, state);
               next != kDead) {
      at(state) = std::min(of(next) + 1, kNever);
    }
  }
}

}  // namespace smol::grammar
