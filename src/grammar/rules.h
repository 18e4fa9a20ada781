// The recursive part of a grammar: rules whose edges are lexemes and calls of rules. Built once,
// then immutable: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "grammar/lexicon.h"

namespace smol::grammar {

using RuleId = std::uint32_t;
using RuleState = std::uint32_t;

inline constexpr std::uint32_t kNoLimit = 0xFFFF'FFFFU;

// One way on: a lexeme, or a part that the rules describe.
struct Piece {
  enum class Kind : std::uint8_t { Lexeme, Rule };
  Kind kind = Kind::Lexeme;
  std::uint32_t id = 0;  // LexState where the lexeme starts, or RuleId
  // Characters inside of CommonStates::string, the only lexeme that is counted.
  std::uint32_t min = 0, max = kNoLimit;

  bool counted() const noexcept { return min != 0 || max != kNoLimit; }

  friend bool operator==(const Piece&, const Piece&) = default;
};

struct LexemeEdge {
  LexState start;
  RuleState target;
  std::uint32_t min, max;

  bool counted() const noexcept { return min != 0 || max != kNoLimit; }
};

struct CallEdge {
  RuleId rule;
  RuleState target;
};

// A finished set of rules. Edges of a state are those of all states that it reaches without a byte.
class Rules {
 public:
  RuleId root() const noexcept { return root_; }

  std::size_t n_rules() const noexcept { return entries_.size(); }

  std::size_t n_states() const noexcept { return states_.size(); }

  RuleState entry(RuleId rule) const noexcept { return entries_[rule]; }

  std::span<const LexemeEdge> lexemes(RuleState state) const noexcept {
    return std::span(lexemes_).subspan(states_[state].first_lexeme, states_[state].n_lexemes);
  }

  std::span<const CallEdge> calls(RuleState state) const noexcept {
    return std::span(calls_).subspan(states_[state].first_call, states_[state].n_calls);
  }

  // The rule may end here.
  bool final(RuleState state) const noexcept { return states_[state].final; }

  // The rule can only end here.
  bool only_final(RuleState state) const noexcept {
    return states_[state].final && states_[state].n_lexemes == 0 && states_[state].n_calls == 0;
  }

  const LexemeEdge& lexeme(std::uint32_t index) const noexcept { return lexemes_[index]; }

  std::uint32_t index_of(const LexemeEdge& edge) const noexcept {
    return static_cast<std::uint32_t>(&edge - lexemes_.data());
  }

  // Rules in an order in which a caller at the same place comes before the called.
  std::uint32_t rank(RuleId rule) const noexcept { return ranks_[rule]; }

  std::span<const RuleId> by_rank() const noexcept { return by_rank_; }

  // The root may match the empty text.
  bool root_matches_empty() const noexcept { return root_matches_empty_; }

 private:
  friend class RulesBuilder;

  struct State {
    std::uint32_t first_lexeme, n_lexemes;
    std::uint32_t first_call, n_calls;
    bool final;
  };

  RuleId root_ = 0;
  bool root_matches_empty_ = false;
  std::vector<State> states_;
  std::vector<RuleState> entries_;
  std::vector<LexemeEdge> lexemes_;
  std::vector<CallEdge> calls_;
  std::vector<std::uint32_t> ranks_;
  std::vector<RuleId> by_rank_;
};

// Every add throws Error{Exhausted} beyond kMaxStates or kMaxEdges.
class RulesBuilder {
 public:
  static constexpr std::size_t kMaxStates = 200'000;
  static constexpr std::size_t kMaxEdges = 1'000'000;

  RuleId add_rule();  // its entry is a new state
  RuleState add_state();

  RuleState entry(RuleId rule) const { return entries_[rule]; }

  void set_entry(RuleId rule, RuleState state) { entries_[rule] = state; }

  void set_final(RuleState state) { states_[state].final = true; }

  void add_edge(RuleState from, const Piece& piece, RuleState to);
  void add_skip(RuleState from, RuleState to);

  struct Result {
    Rules rules;
    bool empty = false;  // no text fits the root
    // A rule that may call itself before any byte; kNoRule: none.
    RuleId left_recursive = kNoRule;
  };

  static constexpr RuleId kNoRule = 0xFFFF'FFFFU;

  // Drops what leads nowhere. The result is usable only where it is neither empty nor left
  // recursive.
  Result finish(RuleId root);

 private:
  struct Edge {
    Piece piece;
    RuleState to;
  };

  struct State {
    std::vector<Edge> edges;
    std::vector<RuleState> skips;
    bool final = false;
  };

  // The states from which a final one of their rule is reached, with or without lexemes.
  std::vector<bool> states_that_end(bool through_lexemes) const;
  void append_state(Rules& rules, RuleState state) const;
  RuleId rank_rules(Rules& rules) const;

  std::vector<State> states_;
  std::vector<RuleState> entries_;
  std::size_t n_edges_ = 0;
  std::vector<bool> nullable_;    // [state] reaches a final state of its rule without a byte
  std::vector<bool> productive_;  // [state] reaches one at all
};

}  // namespace smol::grammar
