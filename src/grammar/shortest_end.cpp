#include "grammar/shortest_end.h"

#include <functional>
#include <queue>

#include "grammar/masks.h"

namespace smol::grammar {

Cost ShortestEnd::of_counted(LexState state, std::uint32_t missing) const noexcept {
  const Cost whole = lexemes_.of(state);
  if (missing == 0) {
    return whole;
  }
  // A token that ends a character or opens the string might close it, too.
  const Cost split = state == Lexicon::common().string_inside ? 0 : 1;
  return whole + split + missing / run_ + (missing % run_ == 0 ? 0 : 1);
}

ShortestEnd::ShortestEnd(const Grammar& grammar, const Vocabulary& vocabulary)
    : lexemes_(grammar.lexicon(), vocabulary),
      run_(vocabulary.shared_masks().strings().longest_run()) {
  measure_states(grammar.rules());
}

// Knuth 1977, a generalization of Dijkstra's algorithm: the cheapest state is final.
void ShortestEnd::measure_states(const Rules& rules) {
  struct Waiting {
    RuleState from;
    RuleState other;  // of a call: the rule's entry or the target; kAlone: a lexeme
    Cost cost;
  };

  constexpr RuleState kAlone = 0xFFFF'FFFFU;
  std::vector<std::vector<Waiting>> waiting(rules.n_states());
  states_.assign(rules.n_states(), kNever);
  std::vector<bool> known(rules.n_states());
  using Entry = std::pair<Cost, RuleState>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  const auto lower = [&](RuleState state, Cost cost) {
    if (cost < states_[state]) {
      states_[state] = cost;
      open.emplace(cost, state);
    }
  };
  for (RuleState state = 0; state < rules.n_states(); ++state) {
    for (const LexemeEdge& edge : rules.lexemes(state)) {
      waiting[edge.target].push_back({state, kAlone, of_counted(edge.start, edge.min)});
    }
    for (const CallEdge& call : rules.calls(state)) {
      const RuleState entry = rules.entry(call.rule);
      waiting[call.target].push_back({state, entry, 0});
      waiting[entry].push_back({state, call.target, 0});
    }
    if (rules.final(state)) {
      lower(state, 0);
    }
  }
  while (!open.empty()) {
    const auto [cost, state] = open.top();
    open.pop();
    if (known[state]) {
      continue;
    }
    known[state] = true;
    for (const Waiting& one : waiting[state]) {
      if (one.other == kAlone) {
        lower(one.from, cost + one.cost);
      } else if (known[one.other]) {
        lower(one.from, cost + states_[one.other]);
      }
    }
  }
}

}  // namespace smol::grammar
