#include "grammar/pushdown.h"

#include <algorithm>
#include <array>
#include <functional>

#include "base/error.h"

namespace smol::grammar {
namespace {

std::uint64_t hash_of(std::span<const Frame> frames) {
  std::uint64_t hash = 0x9E37'79B9'7F4A'7C15U;
  for (const Frame& frame : frames) {
    hash ^= (std::uint64_t{frame.state} << 32U) | frame.below;
    hash *= 0xFF51'AFD7'ED55'8CCDU;
    hash ^= hash >> 29U;
  }
  return hash;
}

void sort_unique(std::vector<Frame>& frames) {
  std::sort(frames.begin(), frames.end());
  frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
}

}  // namespace

Pushdown::Pushdown(std::shared_ptr<const Grammar> grammar)
    : grammar_(std::move(grammar)), callers_(grammar_->rules().n_rules()) {
  std::vector<Frame> bottom{{kBottom, 0}};
  intern(bottom);
}

Cursors Pushdown::start() {
  const Rules& rules = grammar_->rules();
  Cursors cursors;
  expand(rules.entry(rules.root()), 0, cursors);
  expand_all(cursors);
  merge_equal(cursors);
  cursors.complete = rules.root_matches_empty();
  return cursors;
}

StackId Pushdown::intern(std::vector<Frame>& frames) {
  sort_unique(frames);
  const std::uint64_t hash = hash_of(frames);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (std::ranges::equal(this->frames(it->second), frames)) {
      return it->second;
    }
  }
  if (frames_.size() + frames.size() > kMaxFrames) {
    throw Error(ErrorCode::Exhausted, "the grammar's stacks have grown too large");
  }
  const auto id = static_cast<StackId>(stacks_.size());
  stacks_.push_back(
      {static_cast<std::uint32_t>(frames_.size()), static_cast<std::uint32_t>(frames.size())});
  frames_.insert(frames_.end(), frames.begin(), frames.end());
  by_hash_.emplace(hash, id);
  return id;
}

// The union of their stacks.
StackId Pushdown::join(std::span<const Reached> same_state) {
  if (same_state.size() == 1) {
    return same_state[0].stack;
  }
  std::vector<Frame> all;
  for (const Reached& one : same_state) {
    const auto some = frames(one.stack);
    all.insert(all.end(), some.begin(), some.end());
  }
  return intern(all);
}

LexState Pushdown::advance(const Cursor& cursor, std::uint8_t byte, std::uint32_t& count) const {
  const Lexicon& lexicon = grammar_->lexicon();
  count = cursor.count;
  if (cursor.limits != 0) {
    const LexemeEdge& edge = grammar_->rules().lexeme(cursor.limits - 1);
    const CommonStates& common = Lexicon::common();
    if (cursor.lex == common.string_inside) {
      const bool fits = byte == '"' ? count >= edge.min : count < edge.max;
      if (!fits) {
        return kDead;
      }
    }
    const LexState next = lexicon.next(cursor.lex, byte);
    if (next == common.string_inside && cursor.lex != common.string) {
      ++count;
    }
    return next;
  }
  return lexicon.next(cursor.lex, byte);
}

void Pushdown::step(const Cursors& from, std::uint8_t byte, Cursors& to) {
  const Lexicon& lexicon = grammar_->lexicon();
  to.list.clear();
  to.complete = false;
  reached_.clear();
  for (const Cursor& cursor : from.list) {
    std::uint32_t count = 0;
    const LexState next = advance(cursor, byte, count);
    if (next == kDead) {
      continue;
    }
    if (lexicon.accepts(next)) {
      reached_.push_back({cursor.target, cursor.stack});
    }
    if (lexicon.continues(next)) {
      to.list.push_back({next, cursor.target, cursor.limits, count, cursor.stack});
    }
  }
  pop_finished(to);
  merge_equal(to);
}

void Pushdown::leave(const Cursor& cursor, Cursors& to) {
  to.list.clear();
  to.complete = false;
  reached_.assign(1, {cursor.target, cursor.stack});
  pop_finished(to);
  merge_equal(to);
}

// Returns from rules that end at reached_, then goes on from all that is reached.
void Pushdown::pop_finished(Cursors& to) {
  if (reached_.empty()) {
    return;
  }
  const Rules& rules = grammar_->rules();
  std::sort(reached_.begin(), reached_.end());
  reached_.erase(std::unique(reached_.begin(), reached_.end()), reached_.end());
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    const Reached one = reached_[i];
    if (!rules.final(one.state)) {
      continue;
    }
    for (const Frame& frame : frames(one.stack)) {
      if (frame.state == kBottom) {
        to.complete = true;
        continue;
      }
      const Reached next{frame.state, frame.below};
      if (std::find(reached_.begin(), reached_.end(), next) == reached_.end()) {
        reached_.push_back(next);
      }
      if (reached_.size() > kMaxCursors) {
        throw Error(ErrorCode::Exhausted, "the grammar is too ambiguous");
      }
    }
  }
  std::sort(reached_.begin(), reached_.end());
  for (std::size_t i = 0; i < reached_.size();) {
    std::size_t end = i + 1;
    while (end < reached_.size() && reached_[end].state == reached_[i].state) {
      ++end;
    }
    const StackId stack = join(std::span(reached_).subspan(i, end - i));
    expand(reached_[i].state, stack, to);
    i = end;
  }
  expand_all(to);
}

// The lexemes that may begin in `state`; calls are noted for expand_all.
void Pushdown::expand(RuleState state, StackId stack, Cursors& to) {
  const Rules& rules = grammar_->rules();
  for (const LexemeEdge& edge : rules.lexemes(state)) {
    const std::uint32_t limits = edge.counted() ? rules.index_of(edge) + 1 : 0;
    to.list.push_back({edge.start, edge.target, limits, 0, stack});
  }
  for (const CallEdge& call : rules.calls(state)) {
    const std::uint32_t rank = rules.rank(call.rule);
    std::vector<Frame>& callers = callers_[rank];
    if (callers.empty()) {
      called_.push_back(rank);
      std::push_heap(called_.begin(), called_.end(), std::greater<>());
    }
    if (rules.only_final(call.target)) {  // nothing to come back for
      const auto below = frames(stack);
      callers.insert(callers.end(), below.begin(), below.end());
    } else {
      callers.push_back({call.target, stack});
    }
  }
  if (to.list.size() > kMaxCursors) {
    throw Error(ErrorCode::Exhausted, "the grammar is too ambiguous");
  }
}

// Callers come before the called, so that all of a rule's callers are known when it begins.
void Pushdown::expand_all(Cursors& to) {
  const Rules& rules = grammar_->rules();
  while (!called_.empty()) {
    std::pop_heap(called_.begin(), called_.end(), std::greater<>());
    const std::uint32_t rank = called_.back();
    called_.pop_back();
    std::vector<Frame> callers;
    callers.swap(callers_[rank]);
    const StackId stack = intern(callers);
    expand(rules.entry(rules.by_rank()[rank]), stack, to);
  }
}

// Cursors that differ only in their stacks become one.
void Pushdown::merge_equal(Cursors& to) {
  std::vector<Cursor>& list = to.list;
  if (list.size() < 2) {
    return;
  }
  std::sort(list.begin(), list.end());
  std::size_t kept = 0;
  for (std::size_t i = 1; i < list.size(); ++i) {
    Cursor one = list[i];
    one.stack = list[kept].stack;
    if (one == list[kept]) {
      if (list[i].stack != list[kept].stack) {
        const std::array both{Reached{0, list[kept].stack}, Reached{0, list[i].stack}};
        list[kept].stack = join(both);
      }
    } else {
      list[++kept] = list[i];
    }
  }
  list.resize(kept + 1);
}

}  // namespace smol::grammar
