// How many tokens it takes to end the text of a run.
#include <algorithm>

#include "grammar/matcher.h"

namespace smol::grammar {

// Stacks are numbered after those below them.
Cost Matcher::cost_of_stack(StackId stack) {
  const ShortestEnd& ends = grammar_->shortest_end();
  while (stack_costs_.size() < run_.n_stacks()) {
    Cost least = kNever;
    for (const Frame& frame : run_.frames(static_cast<StackId>(stack_costs_.size()))) {
      const Cost cost =
          frame.state == Pushdown::kBottom ? 0 : ends.of(frame.state) + stack_costs_[frame.below];
      least = std::min(least, cost);
    }
    stack_costs_.push_back(std::min(least, kNever));
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
  Cost least = kNever;
  for (const Cursor& cursor : cursors.list) {
    least = std::min(least, cost_inside(cursor) + cost_behind(cursor));
  }
  return least;
}

// One is held back for a key that would otherwise have to end as one that is there already.
std::size_t Matcher::shortest_end() {
  const std::size_t spared = has_free_keys() && !is_complete() ? 1 : 0;
  return ended_ ? 0 : cost_of(cursors()) + spared;
}

}  // namespace smol::grammar
