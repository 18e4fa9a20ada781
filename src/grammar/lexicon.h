// The regular parts of a grammar ("lexemes": a key, a number, a string, a separator) as byte
// automata, all in one table. Immutable once its grammar is built: any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smol::grammar {

// A state of the table. Dense states have a row of 256 targets, sparse ones (kSparse set) a short
// list. 0: dead.
using LexState = std::uint32_t;

inline constexpr LexState kDead = 0;
inline constexpr LexState kSparse = 0x8000'0000U;

// States that stand in every lexicon under the same numbers, so that their masks are made once a
// vocabulary. JSON's white space between tokens is at most one space or newline.
struct CommonStates {
  LexState accept;      // a lexeme's end, nothing follows
  LexState colon;       // ws : ws
  LexState comma;       // ws , ws
  LexState open_brace;  // { ws
  LexState open_bracket;
  LexState close_brace;  // ws }
  LexState close_bracket;
  LexState bare_close_brace;  // } after open_brace, which took the space
  LexState bare_close_bracket;
  LexState string;         // any JSON string: every escape, no lone surrogate
  LexState string_inside;  // the same behind the quote, at the border of a character
  LexState key;            // a string in canonical writing, with the colon behind it
  LexState key_inside;
  LexState integer;
  LexState number;
  LexState literal_null, literal_true, literal_false;
  LexState end;  // one behind the last common dense state
};

class Lexicon {
 public:
  static constexpr std::size_t kMaxDense = 40'000;  // 20 MB
  static constexpr std::size_t kMaxSparse = 1U << 20;

  using Row = std::array<std::uint16_t, 256>;

  // With the common states. The first construction in a process builds them.
  Lexicon();

  static const CommonStates& common();

  // The state behind `byte`; kDead: it does not fit.
  LexState next(LexState state, std::uint8_t byte) const noexcept {
    if ((state & kSparse) == 0) {
      return rows_[state][byte];
    }
    return next_sparse(state & ~kSparse, byte);
  }

  // The lexeme may end here.
  bool accepts(LexState state) const noexcept {
    return (state & kSparse) == 0 ? accepts_[state] != 0 : sparse_[state & ~kSparse].accepts;
  }

  // Some byte may follow.
  bool continues(LexState state) const noexcept {
    return (state & kSparse) == 0 ? only_byte_[state] != kNoByte
                                  : sparse_[state & ~kSparse].first_edge != kNone;
  }

  // The only byte that may follow, or -1 (none or several).
  int only_byte(LexState state) const noexcept;
  // The least number of bytes to an accepting state, and a byte that begins such a way.
  std::uint32_t distance(LexState state) const noexcept;
  std::uint8_t nearest_byte(LexState state) const noexcept;

  // The common state whose row this dense state has but for some bytes, so that their masks differ
  // little; kDead: none is known.
  LexState like(LexState dense) const noexcept { return like_[dense]; }

  std::size_t dense_size() const noexcept { return rows_.size(); }

  std::size_t sparse_size() const noexcept { return sparse_.size(); }

  // --- building; each throws Error{Exhausted} beyond the bounds above ---

  LexState add_dense(bool accepts);
  // A state with the row of a common one, which is then what it is like.
  LexState add_like(LexState common_state);
  void set(LexState from, std::uint8_t byte, LexState to);

  void set_row(LexState state, const Row& row) { rows_[state] = row; }

  const Row& row(LexState state) const { return rows_[state]; }

  LexState add_sparse(bool accepts);
  // The state behind `byte`, made where there is none yet.
  LexState extend(LexState sparse, std::uint8_t byte);
  // An edge to a state that is there already. Requires: no edge for `byte` yet.
  void link(LexState sparse, std::uint8_t byte, LexState to);
  void set_accepts(LexState sparse);
  // Computes distance(), nearest_byte() and only_byte(). Call once, at the end. Every state must
  // reach an accepting one.
  void finish();

 private:
  friend struct CommonLexicon;

  struct SparseState {
    std::uint32_t first_edge;
    std::uint32_t distance;
    std::uint8_t nearest;
    bool accepts;
  };

  struct SparseEdge {
    LexState to;
    std::uint32_t next_edge;
    std::uint8_t byte;
  };

  static constexpr std::uint32_t kNone = 0xFFFF'FFFFU;
  static constexpr std::int16_t kNoByte = -1, kManyBytes = -2;

  struct Empty {};

  explicit Lexicon(Empty /*without the common states*/);
  LexState next_sparse(std::uint32_t index, std::uint8_t byte) const noexcept;
  void finish_dense(std::size_t first);
  void finish_sparse();

  std::vector<Row> rows_;
  std::vector<std::uint8_t> accepts_;
  std::vector<std::uint16_t> like_;
  std::vector<std::int16_t> only_byte_;
  std::vector<std::uint32_t> distance_;
  std::vector<std::uint8_t> nearest_;
  std::vector<SparseState> sparse_;
  std::vector<SparseEdge> edges_;
};

// A sparse lexeme for exactly these bytes that goes on in `tail`, or ends where that is kDead.
LexState add_literal(Lexicon& lexicon, std::string_view bytes, LexState tail = kDead);

}  // namespace smol::grammar
