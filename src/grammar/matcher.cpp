#include "grammar/matcher.h"

#include <algorithm>

#include "base/check.h"

namespace smol::grammar {
Matcher::Matcher(std::shared_ptr<const TokenGrammar> grammar)
    : grammar_(std::move(grammar)), run_(grammar_->grammar()), history_{run_.start()} {}

bool Matcher::accept(TokenId token) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  if (ended_) {
    return false;
  }
  if (vocabulary.ends(token)) {
    if (!is_complete()) {
      return false;
    }
    ended_ = true;
    history_.push_back(history_.back());
    return true;
  }
  const std::string_view bytes = vocabulary.bytes_of(token);
  Cursors from = history_.back();
  Cursors to;
  for (const char byte : bytes) {
    run_.step(from, static_cast<std::uint8_t>(byte), to);
    std::swap(from, to);
    if (from.dead()) {
      return false;
    }
  }
  if (bytes.empty()) {
    return false;
  }
  history_.push_back(std::move(from));
  return true;
}

void Matcher::rollback(std::size_t n_tokens) {
  SMOL_CHECK(n_tokens <= n_accepted());
  ended_ = ended_ && n_tokens == 0;
  history_.resize(history_.size() - n_tokens);
}

void Matcher::mask(MaskWords mask) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  SMOL_CHECK(mask.size() == vocabulary.mask_words());
  std::fill(mask.begin(), mask.end(), 0);
  lookahead_.forget_if_full();
  if (!ended_) {
    for (const Cursor& cursor : history_.back().list) {
      if (cursor.limits != 0) {
        add_counted(cursor, mask);
      } else {
        add_lexeme(cursor, mask);
      }
    }
  }
  finish_mask(mask);
}

// Tokens of the same bytes, and end tokens.
void Matcher::finish_mask(MaskWords mask) const {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  for (const auto& [first, twin] : vocabulary.twins()) {
    if (is_allowed(mask, first)) {
      allow_token(mask, twin);
    }
  }
  if (is_complete()) {
    for (const TokenId token : vocabulary.end_tokens()) {
      allow_token(mask, token);
    }
  }
}

void Matcher::add_lexeme(const Cursor& cursor, MaskWords mask) {
  LexMask spare;
  const LexMask& lexeme = grammar_->mask_of(cursor.lex, spare);
  lexeme.add_to(mask);
  add_behind(cursor, lexeme.exits, mask);
}

void Matcher::add_counted(const Cursor& cursor, MaskWords mask) {
  const LexemeEdge& edge = grammar_->grammar()->rules().lexeme(cursor.limits - 1);
  if (cursor.lex == Lexicon::common().string_inside) {
    const std::uint32_t min = edge.min > cursor.count ? edge.min - cursor.count : 0;
    std::vector<std::uint32_t> exits;
    grammar_->vocabulary().shared_masks().strings().add_to(mask, min, edge.max - cursor.count,
                                                           exits);
    add_behind(cursor, exits, mask);
    return;
  }
  // Few tokens begin inside of a character or an escape, or with a quote.
  add_within(cursor, kAnyNumber, mask);
}

// Tokens that go on behind the lexeme.
void Matcher::add_behind(const Cursor& cursor, std::span<const std::uint32_t> exits,
                         MaskWords mask) {
  if (exits.empty()) {
    return;
  }
  const Lookahead::State behind = lookahead_.behind(run_, cursor);
  for (const std::uint32_t node : exits) {
    walk_below(node, behind, kAnyNumber, mask);
  }
}

void Matcher::walk_below(std::uint32_t node, Lookahead::State state, ShortestEnd::Cost tokens_left,
                         MaskWords mask) {
  const auto trie = grammar_->vocabulary().trie();
  for (std::uint32_t child = node + 1; child < trie[node].end; child = trie[child].end) {
    const Lookahead::State next = lookahead_.step(run_, state, trie[child].byte);
    if (next == Lookahead::kNowhere) {
      continue;
    }
    if (trie[child].token >= 0 &&
        (tokens_left == kAnyNumber || cost_of(lookahead_.cursors(next)) < tokens_left)) {
      allow_token(mask, trie[child].token);
    }
    if (trie[child].end > child + 1) {
      walk_below(child, next, tokens_left, mask);
    }
  }
}

std::string Matcher::forced() {
  const Lexicon& lexicon = grammar_->grammar()->lexicon();
  std::string bytes;
  Cursors here = history_.back();
  Cursors next;
  while (!ended_ && !here.complete && bytes.size() < kMaxForced) {
    int only = -1;
    for (const Cursor& cursor : here.list) {
      const int byte = only_byte(lexicon, cursor);
      if (byte < 0 || (only >= 0 && only != byte)) {
        return bytes;
      }
      only = byte;
    }
    bytes += static_cast<char>(only);
    run_.step(here, static_cast<std::uint8_t>(only), next);
    std::swap(here, next);
  }
  return bytes;
}

// -1: several. A counted string is told by its lexeme alone but where it is full.
int Matcher::only_byte(const Lexicon& lexicon, const Cursor& cursor) const {
  if (cursor.limits != 0 && cursor.lex == Lexicon::common().string_inside) {
    const LexemeEdge& edge = grammar_->grammar()->rules().lexeme(cursor.limits - 1);
    return cursor.count == edge.max ? '"' : -1;
  }
  return lexicon.only_byte(cursor.lex);
}

}  // namespace smol::grammar
