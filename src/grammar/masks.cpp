#include "grammar/masks.h"

#include <algorithm>

#include "grammar/trie_walk.h"

namespace smol::grammar {
namespace {

bool has_children(std::span<const TrieNode> trie, std::uint32_t node) {
  return trie[node].end > node + 1;
}

}  // namespace

void LexMask::add_to(MaskWords mask) const noexcept {
  for (std::size_t i = 0; i < bits.size(); ++i) {
    mask[i] |= bits[i];
  }
  for (const TokenId token : tokens) {
    allow_token(mask, token);
  }
}

std::size_t LexMask::size_bytes() const noexcept {
  return sizeof(LexMask) + bits.size() * 8 + tokens.size() * 4 + exits.size() * 4;
}

LexMask make_mask(const Lexicon& lexicon, const Vocabulary& vocabulary, LexState state) {
  LexMask mask;
  const auto trie = vocabulary.trie();
  walk_trie(
      vocabulary, state, 0,
      [&](LexState from, std::uint8_t byte, std::uint32_t&) { return lexicon.next(from, byte); },
      [&](std::uint32_t node, LexState at, std::uint32_t) {
        if (trie[node].token >= 0) {
          mask.tokens.push_back(trie[node].token);
        }
        if (lexicon.accepts(at) && has_children(trie, node)) {
          mask.exits.push_back(node);
        }
      });
  if (mask.tokens.size() > vocabulary.mask_words()) {
    mask.bits.resize(vocabulary.mask_words());
    for (const TokenId token : mask.tokens) {
      allow_token(mask.bits, token);
    }
    mask.tokens = {};
  }
  mask.tokens.shrink_to_fit();
  mask.exits.shrink_to_fit();
  return mask;
}

StringMasks::StringMasks(const Vocabulary& vocabulary) {
  const CommonStates& common = Lexicon::common();
  const Lexicon lexicon;
  const auto trie = vocabulary.trie();
  within_.assign(kTable + 1, std::vector<std::uint64_t>(vocabulary.mask_words()));
  walk_trie(
      vocabulary, common.string_inside, 0,
      [&](LexState from, std::uint8_t byte, std::uint32_t& count) {
        const LexState to = lexicon.next(from, byte);
        count += to == common.string_inside ? 1 : 0;
        return to;
      },
      [&](std::uint32_t node, LexState at, std::uint32_t count) {
        const TokenId token = trie[node].token;
        if (at == common.accept) {
          closing_.push_back({token, has_children(trie, node) ? node : 0, count});
        } else if (token >= 0) {
          // A character that is begun needs its place.
          const std::uint32_t n = count + (at == common.string_inside ? 0 : 1);
          if (n > kTable) {
            longer_.push_back({token, node, n});
          } else {
            allow_token(within_[n], token);
          }
        }
      });
  const auto has_tokens = [&](std::uint32_t n) {
    return std::any_of(within_[n].begin(), within_[n].end(), [](auto word) { return word != 0; });
  };
  while (longest_run_ < kTable && has_tokens(longest_run_ + 1)) {
    ++longest_run_;
  }
  for (std::size_t n = 1; n <= kTable; ++n) {
    for (std::size_t word = 0; word < within_[n].size(); ++word) {
      within_[n][word] |= within_[n - 1][word];
    }
  }
  std::sort(longer_.begin(), longer_.end(),
            [](const Counted& a, const Counted& b) { return a.n_characters < b.n_characters; });
}

void StringMasks::add_to(MaskWords mask, std::uint32_t min, std::uint32_t max,
                         std::vector<std::uint32_t>& exits) const {
  const auto& within = within_[std::min(max, kTable)];
  for (std::size_t word = 0; word < within.size(); ++word) {
    mask[word] |= within[word];
  }
  for (const Counted& one : longer_) {
    if (one.n_characters > max) {
      break;
    }
    allow_token(mask, one.token);
  }
  for (const Counted& one : closing_) {
    if (one.n_characters >= min && one.n_characters <= max) {
      if (one.token >= 0) {
        allow_token(mask, one.token);
      }
      if (one.node != 0) {
        exits.push_back(one.node);
      }
    }
  }
}

SharedMasks::SharedMasks(const Vocabulary& vocabulary) : strings_(vocabulary) {
  const Lexicon lexicon;
  masks_.resize(Lexicon::common().end);
  for (LexState state = 1; state < masks_.size(); ++state) {
    masks_[state] = make_mask(lexicon, vocabulary, state);
  }
}

SharedMasks::~SharedMasks() = default;

TokenGrammar::TokenGrammar(std::shared_ptr<const Grammar> grammar,
                           std::shared_ptr<const Vocabulary> vocabulary)
    : grammar_(std::move(grammar)),
      vocabulary_(std::move(vocabulary)),
      dense_(grammar_->lexicon().dense_size()),
      sparse_(grammar_->lexicon().sparse_size()) {}

TokenGrammar::~TokenGrammar() = default;

const ShortestEnd& TokenGrammar::shortest_end() const {
  std::call_once(measured_, [&] { shortest_end_.emplace(*grammar_, *vocabulary_); });
  return *shortest_end_;
}

const LexMask& TokenGrammar::mask_of(LexState state, LexMask& spare) const {
  if (state < Lexicon::common().end) {
    return vocabulary_->shared_masks().of(state);
  }
  std::atomic<const LexMask*>& slot =
      (state & kSparse) == 0 ? dense_[state] : sparse_[state & ~kSparse];
  if (const LexMask* known = slot.load(std::memory_order_acquire)) {
    return *known;
  }
  LexMask made = make_mask(grammar_->lexicon(), *vocabulary_, state);
  const std::scoped_lock lock(mutex_);
  if (const LexMask* known = slot.load(std::memory_order_relaxed)) {
    return *known;
  }
  if (cache_bytes_ + made.size_bytes() > kMaxCacheBytes) {
    spare = std::move(made);
    return spare;
  }
  cache_bytes_ += made.size_bytes();
  const LexMask& kept = kept_.emplace_back(std::move(made));
  slot.store(&kept, std::memory_order_release);
  return kept;
}

}  // namespace smol::grammar
