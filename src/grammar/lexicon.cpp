#include "grammar/lexicon.h"

#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "grammar/common_lexicon.h"

namespace smol::grammar {

Lexicon::Lexicon(Empty /*without the common states*/) {
  add_dense(false);
}

Lexicon::Lexicon() : Lexicon(CommonLexicon::get().lexicon) {}

const CommonStates& Lexicon::common() {
  return CommonLexicon::get().states;
}

LexState Lexicon::next_sparse(std::uint32_t index, std::uint8_t byte) const noexcept {
  for (std::uint32_t i = sparse_[index].first_edge; i != kNone; i = edges_[i].next_edge) {
    if (edges_[i].byte == byte) {
      return edges_[i].to;
    }
  }
  return kDead;
}

int Lexicon::only_byte(LexState state) const noexcept {
  if ((state & kSparse) == 0) {
    return only_byte_[state] >= 0 ? only_byte_[state] : -1;
  }
  const std::uint32_t edge = sparse_[state & ~kSparse].first_edge;
  return edge != kNone && edges_[edge].next_edge == kNone ? edges_[edge].byte : -1;
}

std::uint32_t Lexicon::distance(LexState state) const noexcept {
  return (state & kSparse) == 0 ? distance_[state] : sparse_[state & ~kSparse].distance;
}

std::uint8_t Lexicon::nearest_byte(LexState state) const noexcept {
  return (state & kSparse) == 0 ? nearest_[state] : sparse_[state & ~kSparse].nearest;
}

LexState Lexicon::add_dense(bool accepts) {
  if (rows_.size() >= kMaxDense) {
    throw Error(ErrorCode::Exhausted, "the grammar needs too many states");
  }
  rows_.push_back({});
  accepts_.push_back(accepts ? 1 : 0);
  like_.push_back(kDead);
  return static_cast<LexState>(rows_.size() - 1);
}

LexState Lexicon::add_like(LexState common_state) {
  const LexState added = add_dense(accepts(common_state));
  rows_[added] = rows_[common_state];
  like_[added] = static_cast<std::uint16_t>(common_state);
  return added;
}

void Lexicon::set(LexState from, std::uint8_t byte, LexState to) {
  SMOL_CHECK((to & kSparse) == 0);
  rows_[from][byte] = static_cast<std::uint16_t>(to);
}

LexState Lexicon::add_sparse(bool accepts) {
  if (sparse_.size() >= kMaxSparse) {
    throw Error(ErrorCode::Exhausted, "the grammar's fixed texts are too long");
  }
  sparse_.push_back({kNone, 0, 0, accepts});
  return static_cast<LexState>(sparse_.size() - 1) | kSparse;
}

LexState Lexicon::extend(LexState sparse, std::uint8_t byte) {
  if (const LexState known = next(sparse, byte); known != kDead) {
    return known;
  }
  const LexState added = add_sparse(false);
  link(sparse, byte, added);
  return added;
}

void Lexicon::link(LexState sparse, std::uint8_t byte, LexState to) {
  SparseState& state = sparse_[sparse & ~kSparse];
  edges_.push_back({to, state.first_edge, byte});
  state.first_edge = static_cast<std::uint32_t>(edges_.size() - 1);
}

void Lexicon::set_accepts(LexState sparse) {
  sparse_[sparse & ~kSparse].accepts = true;
}

// Backwards from the accepting states, nearest first.
void Lexicon::finish_dense(std::size_t first) {
  std::vector<std::vector<std::pair<LexState, std::uint8_t>>> sources(rows_.size());
  std::vector<LexState> work;
  for (auto state = static_cast<LexState>(first); state < rows_.size(); ++state) {
    for (unsigned byte = 256; byte-- > 0;) {
      const LexState to = rows_[state][byte];
      if (to == kDead) {
        continue;
      }
      only_byte_[state] =
          only_byte_[state] == kNoByte ? static_cast<std::int16_t>(byte) : kManyBytes;
      if (sources[to].empty() || sources[to].back().first != state) {
        sources[to].emplace_back(state, static_cast<std::uint8_t>(byte));
      } else if (byte >= 0x20) {
        sources[to].back().second = static_cast<std::uint8_t>(byte);
      }
    }
  }
  for (LexState state = 1; state < rows_.size(); ++state) {
    if (accepts_[state] != 0) {
      distance_[state] = 0;
    }
    if (distance_[state] != kNone) {
      work.push_back(state);
    }
  }
  std::sort(work.begin(), work.end(),
            [&](LexState a, LexState b) { return distance_[a] < distance_[b]; });
  for (std::size_t i = 0; i < work.size(); ++i) {
    for (const auto& [source, byte] : sources[work[i]]) {
      if (distance_[source] > distance_[work[i]] + 1) {
        distance_[source] = distance_[work[i]] + 1;
        nearest_[source] = byte;
        work.push_back(source);
      }
    }
  }
}

void Lexicon::finish_sparse() {
  // Edges lead to later states.
  for (std::size_t index = sparse_.size(); index-- > 0;) {
    SparseState& state = sparse_[index];
    state.distance = state.accepts ? 0 : kNone;
    for (std::uint32_t i = state.first_edge; i != kNone; i = edges_[i].next_edge) {
      const std::uint32_t behind = distance(edges_[i].to);
      if (behind != kNone && behind + 1 < state.distance) {
        state.distance = behind + 1;
        state.nearest = edges_[i].byte;
      }
    }
  }
}

void Lexicon::finish() {
  const std::size_t known = distance_.size();
  distance_.resize(rows_.size(), kNone);
  nearest_.resize(rows_.size(), 0);
  only_byte_.resize(rows_.size(), kNoByte);
  finish_dense(known);
  finish_sparse();
}

LexState add_literal(Lexicon& lexicon, std::string_view bytes, LexState tail) {
  SMOL_CHECK(!bytes.empty());
  const LexState start = lexicon.add_sparse(false);
  LexState state = start;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    if (i + 1 == bytes.size() && tail != kDead) {
      lexicon.link(state, byte, tail);
    } else {
      state = lexicon.extend(state, byte);
    }
  }
  if (tail == kDead) {
    lexicon.set_accepts(state);
  }
  return start;
}

}  // namespace smol::grammar
