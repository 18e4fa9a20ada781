// Steps of a run that masks try again and again: what follows a lexeme inside of a token. A memory
// of Pushdown::step, by state and byte.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "grammar/pushdown.h"

namespace smol::grammar {

// One thread, always with the same run.
class Lookahead {
 public:
  using State = std::uint32_t;

  static constexpr State kNowhere = 0;
  // Beyond this forget() drops everything: some 3 MB.
  static constexpr std::size_t kMaxStates = 2'000;

  Lookahead() { forget(); }

  // Call where no state is held.
  void forget_if_full() {
    if (states_.size() > kMaxStates) {
      forget();
    }
  }

  // Where the run stands once the cursor's lexeme is whole.
  State behind(Pushdown& run, const Cursor& cursor);
  // kNowhere: the byte does not fit.
  State step(Pushdown& run, State state, std::uint8_t byte);

  const Cursors& cursors(State state) const { return states_[state].cursors; }

 private:
  static constexpr State kUnknown = 0xFFFF'FFFFU;

  struct Known {
    Cursors cursors;
    std::array<State, 256> next;
  };

  void forget();
  State add(Cursors cursors);

  std::deque<Known> states_;
  std::map<std::pair<RuleState, StackId>, State> behind_;
};

}  // namespace smol::grammar
