#include "grammar/shortest_end.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>

#include "grammar/masks.h"

namespace smol::grammar {

ShortestEnd::Cost ShortestEnd::of_counted(LexState state, std::uint32_t missing) const noexcept {
  const Cost whole = of_lexeme(state);
  if (missing == 0) {
    return whole;
  }
  // A token that ends a character or opens the string might close it, too.
  const Cost split = state == Lexicon::common().string_inside ? 0 : 1;
  return whole + split + missing / run_ + (missing % run_ == 0 ? 0 : 1);
}

ShortestEnd::ShortestEnd(const Grammar& grammar, const Vocabulary& vocabulary) {
  run_ = vocabulary.shared_masks().strings().longest_run();
  measure_lexemes(grammar.lexicon(), vocabulary);
  measure_states(grammar.rules());
}

void ShortestEnd::measure_lexemes(const Lexicon& lexicon, const Vocabulary& vocabulary) {
  const auto measure = [&](LexState state) {
    std::string text;
    while (lexicon.distance(state) > 0 && text.size() < 4096) {
      text += static_cast<char>(lexicon.nearest_byte(state));
      state = lexicon.next(state, lexicon.nearest_byte(state));
    }
    std::size_t length = 0;
    const std::vector<TokenId> tokens = vocabulary.longest_tokens(text);
    for (const TokenId token : tokens) {
      length += vocabulary.bytes_of(token).size();
    }
    return length == text.size() ? static_cast<Cost>(tokens.size()) : kNever;
  };
  dense_.resize(lexicon.dense_size());
  for (LexState state = 1; state < dense_.size(); ++state) {
    dense_[state] = measure(state);
  }
  sparse_.resize(lexicon.sparse_size());
  for (std::uint32_t i = 0; i < sparse_.size(); ++i) {
    sparse_[i] = measure(i | kSparse);
  }
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
  for (RuleState state = 0; state < rules.n_states(); ++state) {
    largest_ = states_[state] < kNever ? std::max(largest_, states_[state]) : largest_;
  }
}

}  // namespace smol::grammar
