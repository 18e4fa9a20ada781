#include "grammar/matcher.h"

#include <algorithm>

#include "base/check.h"

namespace smol::grammar {
Matcher::Matcher(std::shared_ptr<const TokenGrammar> grammar)
    : grammar_(std::move(grammar)), run_(grammar_->grammar()), history_{Step{run_.start()}} {}

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
  if (bytes.empty() || repeats_needlessly(bytes)) {
    return false;
  }
  Cursors from = cursors();
  Cursors to;
  for (const char byte : bytes) {
    run_.step(from, static_cast<std::uint8_t>(byte), to);
    std::swap(from, to);
    if (from.dead()) {
      return false;
    }
  }
  OpenKeys::Place place;
  if (has_free_keys()) {
    place = keys_.behind(history_.back().place, bytes);
  }
  history_.push_back({std::move(from), std::move(place)});
  return true;
}

bool Matcher::repeats_needlessly(std::string_view bytes) {
  if (!has_free_keys() || !keys_.repeats(history_.back().place, bytes)) {
    return false;
  }
  std::vector<std::uint64_t> others(grammar_->vocabulary().mask_words());
  return fill(others, kAnyNumber, Repeats::Refused);
}

void Matcher::rollback(std::size_t n_tokens) {
  SMOL_CHECK(n_tokens <= n_accepted());
  ended_ = ended_ && n_tokens == 0;
  history_.resize(history_.size() - n_tokens);
}

void Matcher::mask(MaskWords mask) {
  if (!fill(mask, kAnyNumber, Repeats::Refused)) {
    fill(mask, kAnyNumber, Repeats::Taken);
  }
}

void Matcher::mask(MaskWords mask, std::size_t tokens_left) {
  const Cost shortest = cost_of(cursors());
  if (tokens_left < kAnyNumber && shortest <= tokens_left) {
    const bool may_spare = has_free_keys() && shortest < tokens_left;
    const auto all = static_cast<Cost>(tokens_left);
    if ((may_spare && fill(mask, all - 1, Repeats::Refused)) || fill(mask, all, Repeats::Refused)) {
      return;
    }
  }
  this->mask(mask);
}

bool Matcher::fill(MaskWords mask, Cost tokens_left, Repeats repeats) {
  SMOL_CHECK(mask.size() == grammar_->vocabulary().mask_words());
  std::fill(mask.begin(), mask.end(), 0);
  lookahead_.forget_if_full();
  if (!ended_) {
    for (const Cursor& cursor : cursors().list) {
      if (cursor.limits != 0) {
        add_counted(cursor, tokens_left, mask);
      } else {
        add_lexeme(cursor, tokens_left, mask);
      }
    }
  }
  if (repeats == Repeats::Refused && has_free_keys()) {
    remove_repeats(mask);
  }
  finish_mask(mask);
  return std::ranges::any_of(mask, [](std::uint64_t word) { return word != 0; });
}

// What ends the open key as one that is there, whatever follows it; and tokens with whole keys.
void Matcher::remove_repeats(MaskWords mask) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  const auto trie = vocabulary.trie();
  const OpenKeys::Place& place = history_.back().place;
  for (const std::string& end : keys_.repeating_ends(place)) {
    const std::uint32_t first = vocabulary.node_of(end);
    for (std::uint32_t node = first; first != 0 && node < trie[first].end; ++node) {
      if (trie[node].token >= 0) {
        forbid_token(mask, trie[node].token);
      }
    }
  }
  for (const TokenId token : vocabulary.quoting_tokens()) {
    if (is_allowed(mask, token) && keys_.repeats(place, vocabulary.bytes_of(token))) {
      forbid_token(mask, token);
    }
  }
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

// What is left for the cursor's lexeme itself.
Cost Matcher::left_inside(const Cursor& cursor, Cost tokens_left) {
  if (tokens_left == kAnyNumber) {
    return kAnyNumber;
  }
  const Cost behind = cost_behind(cursor);
  return tokens_left > behind ? tokens_left - behind : 0;
}

void Matcher::add_lexeme(const Cursor& cursor, Cost tokens_left, MaskWords mask) {
  LexMask spare;
  const LexMask& lexeme = grammar_->mask_of(cursor.lex, spare);
  lexeme.add_to(mask, left_inside(cursor, tokens_left));
  add_behind(cursor, lexeme.exits, tokens_left, mask);
}

void Matcher::add_counted(const Cursor& cursor, Cost tokens_left, MaskWords mask) {
  const LexemeEdge& edge = grammar_->grammar()->rules().lexeme(cursor.limits - 1);
  std::vector<std::uint32_t> exits;
  if (cursor.lex == Lexicon::common().string_inside) {
    const std::uint32_t min = edge.min > cursor.count ? edge.min - cursor.count : 0;
    grammar_->vocabulary().shared_masks().strings().add_to(
        mask, {min, edge.max - cursor.count, left_inside(cursor, tokens_left)}, exits);
  } else {
    // Few tokens begin inside of a character or an escape, or with a quote.
    add_walked(cursor, left_inside(cursor, tokens_left), mask, exits);
  }
  add_behind(cursor, exits, tokens_left, mask);
}

void Matcher::add_walked(const Cursor& cursor, Cost within, MaskWords mask,
                         std::vector<std::uint32_t>& exits) {
  const Lexicon& lexicon = grammar_->grammar()->lexicon();
  const auto trie = grammar_->vocabulary().trie();
  Cursor here = cursor;
  walk_trie(
      grammar_->vocabulary(), cursor.lex, cursor.count,
      [&](LexState from, std::uint8_t byte, std::uint32_t& count) {
        here.lex = from;
        here.count = count;
        return run_.advance(here, byte, count);
      },
      [&](std::uint32_t node, LexState at, std::uint32_t count) {
        here.lex = at;
        here.count = count;
        if (trie[node].token >= 0 && cost_inside(here) < within) {
          allow_token(mask, trie[node].token);
        }
        if (lexicon.accepts(at) && trie[node].end > node + 1) {
          exits.push_back(node);
        }
      });
}

// Tokens that go on behind the lexeme.
void Matcher::add_behind(const Cursor& cursor, std::span<const std::uint32_t> exits,
                         Cost tokens_left, MaskWords mask) {
  if (exits.empty()) {
    return;
  }
  const Lookahead::State behind = lookahead_.behind(run_, cursor);
  for (const std::uint32_t node : exits) {
    walk_below(node, behind, tokens_left, mask);
  }
}

void Matcher::walk_below(std::uint32_t node, Lookahead::State state, Cost tokens_left,
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
  Cursors here = cursors();
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
