// Masks where few tokens are left: only those from which the text can still be ended.
#include <algorithm>

#include "grammar/matcher.h"
#include "grammar/trie_walk.h"

namespace smol::grammar {

using Cost = ShortestEnd::Cost;

// Stacks are numbered after those below them.
Cost Matcher::cost_of_stack(StackId stack) {
  const ShortestEnd& ends = grammar_->shortest_end();
  while (stack_costs_.size() < run_.n_stacks()) {
    Cost least = ShortestEnd::kNever;
    for (const Frame& frame : run_.frames(static_cast<StackId>(stack_costs_.size()))) {
      const Cost cost =
          frame.state == Pushdown::kBottom ? 0 : ends.of(frame.state) + stack_costs_[frame.below];
      least = std::min(least, cost);
    }
    stack_costs_.push_back(std::min(least, ShortestEnd::kNever));
  }
  return stack_costs_[stack];
}

Cost Matcher::cost_behind(const Cursor& cursor) {
  return grammar_->shortest_end().of(cursor.target) + cost_of_stack(cursor.stack);
}

Cost Matcher::cost_inside(const Cursor& cursor) const {
  std::uint32_t missing = 0;
  if (cursor.limits != 0) {
    const LexemeEdge& edge = grammar_->grammar()->rules().lexeme(cursor.limits - 1);
    missing = edge.min > cursor.count ? edge.min - cursor.count : 0;
  }
  return grammar_->shortest_end().of_counted(cursor.lex, missing);
}

Cost Matcher::cost_of(const Cursors& cursors) {
  if (cursors.complete) {
    return 0;
  }
  Cost least = ShortestEnd::kNever;
  for (const Cursor& cursor : cursors.list) {
    least = std::min(least, cost_inside(cursor) + cost_behind(cursor));
  }
  return least;
}

std::size_t Matcher::shortest_end() {
  return ended_ ? 0 : cost_of(history_.back());
}

void Matcher::mask(MaskWords mask, std::size_t tokens_left) {
  const std::size_t shortest = shortest_end();
  const std::size_t growth = std::size_t{kMaxOpened} * grammar_->shortest_end().largest();
  if (shortest > tokens_left || tokens_left > shortest + growth || ended_) {
    this->mask(mask);
    return;
  }
  std::fill(mask.begin(), mask.end(), 0);
  lookahead_.forget_if_full();
  const auto left = static_cast<Cost>(tokens_left);
  for (const Cursor& cursor : history_.back().list) {
    add_within(cursor, left, mask);
  }
  finish_mask(mask);
}

void Matcher::add_within(const Cursor& cursor, Cost tokens_left, MaskWords mask) {
  if (tokens_left == 0) {
    return;
  }
  const Lexicon& lexicon = grammar_->grammar()->lexicon();
  const auto trie = grammar_->vocabulary().trie();
  const bool is_limited = tokens_left != kAnyNumber;
  const Cost behind = is_limited ? cost_behind(cursor) : 0;
  std::vector<std::uint32_t> exits;
  Cursor here = cursor;
  walk_trie(
      grammar_->vocabulary(), cursor.lex, cursor.count,
      [&](LexState from, std::uint8_t byte, std::uint32_t& count) {
        here.lex = from;
        here.count = count;
        return run_.advance(here, byte, count);
      },
      [&](std::uint32_t node, LexState at, std::uint32_t count) {
        here.lex = at;
        here.count = count;
        if (trie[node].token >= 0 && (!is_limited || cost_inside(here) + behind < tokens_left)) {
          allow_token(mask, trie[node].token);
        }
        if (lexicon.accepts(at) && trie[node].end > node + 1) {
          exits.push_back(node);
        }
      });
  if (exits.empty()) {
    return;
  }
  const Lookahead::State state = lookahead_.behind(run_, cursor);
  for (const std::uint32_t node : exits) {
    walk_below(node, state, tokens_left, mask);
  }
}

}  // namespace smol::grammar
