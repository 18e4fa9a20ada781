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

Cost Matcher::cost_behind(const Position& position) {
  return grammar_->shortest_end().of(position.target) + cost_of_stack(position.stack);
}

Cost Matcher::cost_inside(const Position& position) const {
  std::uint32_t missing = 0;
  if (position.limits != 0) {
    const LexemeEdge& edge = grammar_->grammar()->rules().lexeme(position.limits - 1);
    missing = edge.min > position.count ? edge.min - position.count : 0;
  }
  return grammar_->shortest_end().of_counted(position.lex, missing);
}

Cost Matcher::cost_of(const Positions& positions) {
  if (positions.complete) {
    return 0;
  }
  Cost least = ShortestEnd::kNever;
  for (const Position& position : positions.list) {
    least = std::min(least, cost_inside(position) + cost_behind(position));
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
  const auto left = static_cast<Cost>(tokens_left);
  for (const Position& position : history_.back().list) {
    add_within(position, left, mask);
  }
  finish_mask(mask);
}

void Matcher::add_within(const Position& position, Cost tokens_left, MaskWords mask) {
  if (tokens_left == 0) {
    return;
  }
  const Lexicon& lexicon = grammar_->grammar()->lexicon();
  const auto trie = grammar_->vocabulary().trie();
  const Cost behind = cost_behind(position);
  std::vector<std::uint32_t> exits;
  Position here = position;
  walk_trie(
      grammar_->vocabulary(), position.lex, position.count,
      [&](LexState from, std::uint8_t byte, std::uint32_t& count) {
        here.lex = from;
        here.count = count;
        return run_.advance(here, byte, count);
      },
      [&](std::uint32_t node, LexState at, std::uint32_t count) {
        here.lex = at;
        here.count = count;
        if (trie[node].token >= 0 && cost_inside(here) + behind < tokens_left) {
          allow_token(mask, trie[node].token);
        }
        if (lexicon.accepts(at) && trie[node].end > node + 1) {
          exits.push_back(node);
        }
      });
  if (exits.empty()) {
    return;
  }
  run_.leave(position, level(0));
  for (const std::uint32_t node : exits) {
    walk_below(node, 0, tokens_left, mask);
  }
}

}  // namespace smol::grammar
