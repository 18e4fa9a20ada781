// Extended regular expressions over code points (with intersection, complement, ^ and $) and their
// automata, by derivatives: Brzozowski 1964; Owens, Reppy, Turon 2009.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grammar/char_set.h"

namespace smol::grammar {

// An expression of one pool.
using Regex = std::uint32_t;

// A complete automaton over classes of code points, trimmed: dead states are kNone.
struct CharDfa {
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFU;

  struct Segment {
    char32_t first;  // up to the next segment's first
    std::uint32_t class_id;
  };

  std::vector<Segment> segments;  // the first begins at 0
  std::uint32_t n_classes = 0;
  std::vector<std::uint32_t> next;  // [n_states, n_classes]
  std::vector<bool> accepts;        // [n_states], state 0 is the start

  std::size_t n_states() const noexcept { return accepts.size(); }

  bool empty() const noexcept { return accepts.empty(); }

  std::uint32_t class_of(char32_t code_point) const noexcept;

  std::uint32_t target(std::uint32_t state, char32_t code_point) const noexcept {
    return next[state * n_classes + class_of(code_point)];
  }

  // Whether it accepts the whole of a valid UTF-8 text.
  bool matches(std::string_view text) const noexcept;
};

// Without the states that reach no accepting one. Requires: no target is kNone.
CharDfa trim(const CharDfa& complete);

// What one grammar's patterns may cost together: some half a second.
struct StepBudget {
  std::size_t left = 3'000'000;

  // Throws Error{Exhausted} when nothing is left.
  void spend(std::size_t steps = 1);
};

// One thread. Building expressions throws Error{Exhausted} beyond kMaxNodes.
class RegexPool {
 public:
  static constexpr std::uint32_t kUnbounded = 0xFFFF'FFFFU;
  static constexpr std::size_t kMaxNodes = 400'000;
  static constexpr std::size_t kMaxStates = 6'000;

  explicit RegexPool(StepBudget& budget);

  Regex nothing() const noexcept { return 0; }

  Regex empty() const noexcept { return 1; }

  Regex begin() const noexcept { return 2; }  // ^, only at the text's begin

  Regex end() const noexcept { return 3; }  // $, only at its end

  Regex anything() const noexcept { return 4; }  // any text

  Regex one_of(const CharSet& set);
  Regex text(std::string_view valid_utf8);
  Regex concat(Regex first, Regex second);
  Regex either(const std::vector<Regex>& options);
  Regex both(const std::vector<Regex>& all);
  Regex except(Regex inner);
  // min <= max; max may be kUnbounded.
  Regex repeat(Regex inner, std::uint32_t min, std::uint32_t max);

  // Throws Error{Exhausted} for more states than that, and when the budget is spent. An empty
  // automaton is the empty language.
  CharDfa automaton(Regex root, std::size_t max_states = kMaxStates);

 private:
  enum class Kind : std::uint8_t {
    Nothing,
    Empty,
    Begin,
    End,
    Class,
    Concat,
    Or,
    And,
    Not,
    Repeat
  };

  struct Node {
    Kind kind;
    bool empty_inside;           // matches the empty text in the middle of a text
    bool empty_at_end;           // ... at its end, where $ holds
    std::uint32_t a = 0, b = 0;  // operands; Class: index of its set; Or, And: range of lists_
    std::uint32_t min = 0, max = 0;
  };

  struct Where {
    bool at_begin, at_end;
  };

  Regex intern(Node node);
  Regex list_node(Kind kind, std::vector<Regex> items);
  std::span<const Regex> items(const Node& node) const;
  bool matches_empty(Regex root, Where where) const;
  Regex derive(Regex root, std::uint32_t class_id, bool at_begin);
  Regex derive_new(Regex root, std::uint32_t class_id, bool at_begin);
  std::vector<Regex> derive_all(std::span<const Regex> list, std::uint32_t class_id, bool at_begin);
  Regex without_begin(Regex root);
  void make_classes();

  std::vector<Node> nodes_;
  std::vector<Regex> lists_;
  std::vector<CharSet> sets_;
  std::map<CharSet, Regex> set_nodes_;
  std::map<std::vector<std::uint32_t>, Regex> known_;
  // Of the automaton that is being built.
  std::vector<CharDfa::Segment> segments_;
  std::vector<std::vector<bool>> members_;  // [set][class]
  std::uint32_t n_classes_ = 0;
  std::unordered_map<std::uint64_t, Regex> derived_;
  StepBudget& budget_;
};

}  // namespace smol::grammar
