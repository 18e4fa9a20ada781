// The run of a grammar over bytes: all its possible readings at once, with their stacks shared in
// one graph (Tomita 1985), so that ambiguity never multiplies them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "grammar/grammar.h"

namespace smol::grammar {

// A set of stacks, by number. Equal sets have equal numbers.
using StackId = std::uint32_t;

// The top of a stack: where its rule goes on, and what lies below.
struct Frame {
  RuleState state;
  StackId below;
  friend auto operator<=>(const Frame&, const Frame&) = default;
};

// A place in one reading of the text: inside of a lexeme, with what follows it.
struct Cursor {
  LexState lex;
  RuleState target;      // behind the lexeme
  std::uint32_t limits;  // 1 + index of the counted lexeme edge, or 0
  std::uint32_t count;   // characters so far of a counted lexeme
  StackId stack;
  friend auto operator<=>(const Cursor&, const Cursor&) = default;
};

// Where a run may stand. Empty and not complete: nowhere.
struct Cursors {
  std::vector<Cursor> list;
  bool complete = false;  // the text may end here

  bool dead() const noexcept { return list.empty() && !complete; }
};

// One thread. Numbers of stacks stay valid, and all that it makes is kept until it goes.
class Pushdown {
 public:
  static constexpr std::size_t kMaxCursors = 20'000;
  static constexpr std::size_t kMaxFrames = 50'000'000;

  explicit Pushdown(std::shared_ptr<const Grammar> grammar);

  const Grammar& grammar() const noexcept { return *grammar_; }

  Cursors start();
  // Where the run stands behind `byte`. Throws Error{Exhausted} beyond the bounds above.
  void step(const Cursors& from, std::uint8_t byte, Cursors& to);
  // Where the run stands once the lexeme of a cursor is whole.
  void leave(const Cursor& cursor, Cursors& to);

  // The next state of the cursor's lexeme with `byte`, and its count; kDead if it does not fit.
  LexState advance(const Cursor& cursor, std::uint8_t byte, std::uint32_t& count) const;

  std::span<const Frame> frames(StackId stack) const noexcept {
    return std::span(frames_).subspan(stacks_[stack].first, stacks_[stack].size);
  }

  // The frame below all others.
  static constexpr RuleState kBottom = 0xFFFF'FFFFU;

  std::size_t n_stacks() const noexcept { return stacks_.size(); }

 private:
  struct Reached {
    RuleState state;
    StackId stack;
    friend auto operator<=>(const Reached&, const Reached&) = default;
  };

  struct Stack {
    std::uint32_t first, size;
  };

  StackId intern(std::vector<Frame>& frames);
  StackId join(std::span<const Reached> same_state);
  void pop_finished(Cursors& to);
  void expand(RuleState state, StackId stack, Cursors& to);
  void expand_all(Cursors& to);
  void merge_equal(Cursors& to);

  std::shared_ptr<const Grammar> grammar_;
  std::vector<Frame> frames_;
  std::vector<Stack> stacks_;
  std::unordered_multimap<std::uint64_t, StackId> by_hash_;
  // Of the step being taken.
  std::vector<Reached> reached_;
  std::vector<std::vector<Frame>> callers_;  // [rank]
  std::vector<std::uint32_t> called_;        // heap of ranks
};

}  // namespace smol::grammar
