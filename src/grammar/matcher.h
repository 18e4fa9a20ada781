// One sequence under a grammar: which tokens may come next. The text that it follows begins where
// the grammar does (behind </think>, say).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "grammar/lookahead.h"
#include "grammar/masks.h"
#include "grammar/open_keys.h"
#include "grammar/pushdown.h"

namespace smol::grammar {

// One thread at a time. A copy is independent of its original.
class Matcher {
 public:
  explicit Matcher(std::shared_ptr<const TokenGrammar> grammar);

  // Takes the token if mask() allows it; false, and nothing changes, if not. Throws
  // Error{Exhausted}, and nothing changes, where the grammar's ambiguity outgrows its bounds.
  [[nodiscard]] bool accept(TokenId token);

  // Takes back the last `n_tokens` accepted tokens, at most n_accepted().
  void rollback(std::size_t n_tokens);

  std::size_t n_accepted() const noexcept { return history_.size() - 1; }

  // The text may end here: end tokens are allowed.
  bool is_complete() const noexcept { return cursors().complete; }

  // And nothing but an end token may follow.
  bool must_end() const noexcept { return is_complete() && cursors().list.empty(); }

  // An end token was accepted: nothing may follow.
  bool has_ended() const noexcept { return ended_; }

  // Sets exactly the bits of the allowed tokens in `mask` [mask_words()]. Where no other token is
  // allowed, an end token is. A token that repeats a key of its object is allowed only where all do
  // (keys of a pattern that are used up). Throws as accept() does.
  void mask(MaskWords mask);

  // As above, where at most `tokens_left` more tokens may come, the end token not counted: only
  // tokens from which the text can still be ended within them, as long as that is possible at all.
  void mask(MaskWords mask, std::size_t tokens_left);

  // Tokens that are enough to end the text from here, the end token not counted.
  std::size_t shortest_end();

  // The bytes that must come next whatever the rest is, at most kMaxForced of them; empty where the
  // text may end here.
  std::string forced();

  static constexpr std::size_t kMaxForced = 256;

 private:
  static constexpr Cost kAnyNumber = std::numeric_limits<Cost>::max();

  struct Step {
    Cursors cursors;
    OpenKeys::Place place = {};
  };

  enum class Repeats : std::uint8_t { Refused, Taken };

  bool has_free_keys() const noexcept { return grammar_->grammar()->has_free_keys(); }

  const Cursors& cursors() const noexcept { return history_.back().cursors; }

  // False: nothing is allowed.
  bool fill(MaskWords mask, Cost tokens_left, Repeats repeats);
  void remove_repeats(MaskWords mask);
  bool repeats_needlessly(std::string_view bytes);
  void add_lexeme(const Cursor& cursor, Cost tokens_left, MaskWords mask);
  void add_counted(const Cursor& cursor, Cost tokens_left, MaskWords mask);
  void add_walked(const Cursor& cursor, Cost within, MaskWords mask,
                  std::vector<std::uint32_t>& exits);
  void add_behind(const Cursor& cursor, std::span<const std::uint32_t> exits, Cost tokens_left,
                  MaskWords mask);
  // The tokens below a node of the prefix tree, where the run stands as `state` says.
  void walk_below(std::uint32_t node, Lookahead::State state, Cost tokens_left, MaskWords mask);
  void finish_mask(MaskWords mask) const;
  Cost left_inside(const Cursor& cursor, Cost tokens_left);
  Cost cost_of_stack(StackId stack);
  Cost cost_behind(const Cursor& cursor);
  Cost cost_inside(const Cursor& cursor) const;
  Cost cost_of(const Cursors& cursors);
  int only_byte(const Lexicon& lexicon, const Cursor& cursor) const;

  std::shared_ptr<const TokenGrammar> grammar_;
  Pushdown run_;
  std::vector<Step> history_;  // before any token, and behind each
  OpenKeys keys_;
  bool ended_ = false;
  std::vector<Cost> stack_costs_;  // [stack]
  Lookahead lookahead_;
};

}  // namespace smol::grammar
