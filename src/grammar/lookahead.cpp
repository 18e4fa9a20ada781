#include "grammar/lookahead.h"

namespace smol::grammar {

void Lookahead::forget() {
  behind_.clear();
  states_.clear();
  add({});
}

Lookahead::State Lookahead::add(Cursors cursors) {
  Known& known = states_.emplace_back();
  known.cursors = std::move(cursors);
  known.next.fill(known.cursors.list.empty() ? kNowhere : kUnknown);
  return static_cast<State>(states_.size() - 1);
}

Lookahead::State Lookahead::behind(Pushdown& run, const Cursor& cursor) {
  const auto [found, is_new] = behind_.try_emplace({cursor.target, cursor.stack}, kNowhere);
  if (is_new) {
    Cursors cursors;
    run.leave(cursor, cursors);
    found->second = add(std::move(cursors));
  }
  return found->second;
}

Lookahead::State Lookahead::step(Pushdown& run, State state, std::uint8_t byte) {
  const State known = states_[state].next[byte];
  if (known != kUnknown) {
    return known;
  }
  Cursors cursors;
  run.step(states_[state].cursors, byte, cursors);
  const State next = cursors.dead() ? kNowhere : add(std::move(cursors));
  states_[state].next[byte] = next;
  return next;
}

}  // namespace smol::grammar
