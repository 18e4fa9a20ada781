#include "grammar/rules.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"

namespace smol::grammar {
namespace {

constexpr std::size_t kMaxClosedEdges = 4'000'000;
constexpr RuleState kNoState = 0xFFFF'FFFFU;

[[noreturn]] void fail_too_large() {
  throw Error(ErrorCode::Exhausted, "the grammar is too large");
}

}  // namespace

RuleState RulesBuilder::add_state() {
  if (states_.size() >= kMaxStates) {
    fail_too_large();
  }
  states_.emplace_back();
  return static_cast<RuleState>(states_.size() - 1);
}

RuleId RulesBuilder::add_rule() {
  entries_.push_back(add_state());
  return static_cast<RuleId>(entries_.size() - 1);
}

void RulesBuilder::add_edge(RuleState from, const Piece& piece, RuleState to) {
  if (++n_edges_ > kMaxEdges) {
    fail_too_large();
  }
  states_[from].edges.push_back({piece, to});
}

void RulesBuilder::add_skip(RuleState from, RuleState to) {
  if (++n_edges_ > kMaxEdges) {
    fail_too_large();
  }
  states_[from].skips.push_back(to);
}

std::vector<bool> RulesBuilder::states_that_end(bool through_lexemes) const {
  // What waits for a state: `from` ends where the state and `other` do.
  struct Waiting {
    RuleState from, other;
  };

  std::vector<std::vector<Waiting>> waiting(states_.size());
  std::vector<RuleState> work;
  for (RuleState from = 0; from < states_.size(); ++from) {
    for (const RuleState to : states_[from].skips) {
      waiting[to].push_back({from, kNoState});
    }
    for (const Edge& edge : states_[from].edges) {
      if (edge.piece.kind == Piece::Kind::Rule) {
        const RuleState entry = entries_[edge.piece.id];
        waiting[edge.to].push_back({from, entry});
        waiting[entry].push_back({from, edge.to});
      } else if (through_lexemes) {
        waiting[edge.to].push_back({from, kNoState});
      }
    }
    if (states_[from].final) {
      work.push_back(from);
    }
  }
  std::vector<bool> ends(states_.size());
  for (const RuleState state : work) {
    ends[state] = true;
  }
  while (!work.empty()) {
    const RuleState state = work.back();
    work.pop_back();
    for (const Waiting& one : waiting[state]) {
      if (!ends[one.from] && (one.other == kNoState || ends[one.other])) {
        ends[one.from] = true;
        work.push_back(one.from);
      }
    }
  }
  return ends;
}

void RulesBuilder::append_state(Rules& rules, RuleState state) const {
  Rules::State& made = rules.states_[state];
  made = {static_cast<std::uint32_t>(rules.lexemes_.size()), 0,
          static_cast<std::uint32_t>(rules.calls_.size()), 0, false};
  if (!productive_[state]) {
    return;
  }
  std::vector<RuleState> reached{state};
  std::unordered_set<RuleState> seen{state};
  const auto reach = [&](RuleState next) {
    if (productive_[next] && seen.insert(next).second) {
      reached.push_back(next);
    }
  };
  std::size_t n_done = 0;
  while (n_done < reached.size()) {
    const State& one = states_[reached[n_done++]];
    made.final = made.final || one.final;
    std::for_each(one.skips.begin(), one.skips.end(), reach);
    for (const Edge& edge : one.edges) {
      const bool is_call = edge.piece.kind == Piece::Kind::Rule;
      if (!productive_[edge.to] || (is_call && !productive_[entries_[edge.piece.id]])) {
        continue;
      }
      if (!is_call) {
        rules.lexemes_.push_back({edge.piece.id, edge.to, edge.piece.min, edge.piece.max});
        continue;
      }
      rules.calls_.push_back({edge.piece.id, edge.to});
      if (nullable_[entries_[edge.piece.id]]) {
        reach(edge.to);
      }
    }
  }
  made.n_lexemes = static_cast<std::uint32_t>(rules.lexemes_.size()) - made.first_lexeme;
  made.n_calls = static_cast<std::uint32_t>(rules.calls_.size()) - made.first_call;
  if (rules.lexemes_.size() + rules.calls_.size() > kMaxClosedEdges) {
    fail_too_large();
  }
}

// Topological order of "may begin with"; returns a rule on a cycle, or kNoRule.
RuleId RulesBuilder::rank_rules(Rules& rules) const {
  const std::size_t n = entries_.size();
  std::vector<std::uint32_t> n_callers(n);
  const auto begins_with = [&](RuleId rule) { return rules.calls(entries_[rule]); };
  for (RuleId rule = 0; rule < n; ++rule) {
    for (const CallEdge& call : begins_with(rule)) {
      ++n_callers[call.rule];
    }
  }
  for (RuleId rule = 0; rule < n; ++rule) {
    if (n_callers[rule] == 0) {
      rules.by_rank_.push_back(rule);
    }
  }
  rules.ranks_.resize(n);
  for (std::size_t i = 0; i < rules.by_rank_.size(); ++i) {
    const RuleId rule = rules.by_rank_[i];
    rules.ranks_[rule] = static_cast<std::uint32_t>(i);
    for (const CallEdge& call : begins_with(rule)) {
      if (--n_callers[call.rule] == 0) {
        rules.by_rank_.push_back(call.rule);
      }
    }
  }
  // Of the rules left over, those without a caller on the cycle hang below it.
  for (RuleId rule = 0; rule < n; ++rule) {
    if (n_callers[rule] != 0) {
      return rule;
    }
  }
  return kNoRule;
}

RulesBuilder::Result RulesBuilder::finish(RuleId root) {
  nullable_ = states_that_end(false);
  productive_ = states_that_end(true);
  Result result;
  Rules& rules = result.rules;
  rules.root_ = root;
  rules.entries_ = entries_;
  rules.root_matches_empty_ = nullable_[entries_[root]];
  result.empty = !productive_[entries_[root]];
  rules.states_.resize(states_.size());
  for (RuleState state = 0; state < states_.size(); ++state) {
    append_state(rules, state);
  }
  result.left_recursive = rank_rules(rules);
  return result;
}

}  // namespace smol::grammar
