#include "grammar/masks.h"

#include <algorithm>

namespace smol::grammar {

StringMasks::StringMasks(const Vocabulary& vocabulary, const LexemeCosts& common_costs)
    : closing_cost_(common_costs.of(Lexicon::common().string_inside)) {
  const CommonStates& common = Lexicon::common();
  const Lexicon lexicon;
  const auto trie = vocabulary.trie();
  within_.fill(std::vector<std::uint64_t>(vocabulary.mask_words()));
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
          closing_.push_back({token, trie[node].end > node + 1 ? node : 0, count});
        } else if (token < 0) {
          return;
        } else if (at != common.string_inside) {
          partial_.push_back({token, count, common_costs.of(at)});
        } else if (count > kTable) {
          longer_.push_back({token, count});
        } else {
          allow_token(within_[count], token);
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

// The costs are those of ShortestEnd::of_counted.
void StringMasks::add_whole(MaskWords mask, const Bounds& bounds) const {
  if (bounds.below <= closing_cost_) {
    return;
  }
  const std::uint64_t may_miss = std::uint64_t{bounds.below - closing_cost_ - 1} * longest_run_;
  const auto least = static_cast<std::uint32_t>(bounds.min > may_miss ? bounds.min - may_miss : 0);
  const auto& upper = within_[std::min(bounds.max, kTable)];
  const auto* lower = least == 0 ? nullptr : &within_[std::min(least - 1, kTable)];
  for (std::size_t word = 0; word < upper.size(); ++word) {
    mask[word] |= lower == nullptr ? upper[word] : upper[word] & ~(*lower)[word];
  }
  for (const Counted& one : longer_) {
    if (one.n_characters > bounds.max) {
      break;
    }
    if (one.n_characters >= least) {
      allow_token(mask, one.token);
    }
  }
}

void StringMasks::add_partial(MaskWords mask, const Bounds& bounds) const {
  for (const Partial& one : partial_) {
    if (one.n_characters >= bounds.max) {  // the character that is begun needs its place
      continue;
    }
    const std::uint32_t missing = bounds.min > one.n_characters ? bounds.min - one.n_characters : 0;
    const Cost cost = missing == 0 ? one.cost
                                   : one.cost + 1 + missing / longest_run_ +
                                         (missing % longest_run_ == 0 ? 0 : 1);
    if (cost < bounds.below) {
      allow_token(mask, one.token);
    }
  }
}

void StringMasks::add_to(MaskWords mask, const Bounds& bounds,
                         std::vector<std::uint32_t>& exits) const {
  add_whole(mask, bounds);
  add_partial(mask, bounds);
  for (const Closing& one : closing_) {
    if (one.n_characters < bounds.min || one.n_characters > bounds.max) {
      continue;
    }
    if (one.token >= 0 && bounds.below > 0) {
      allow_token(mask, one.token);
    }
    if (one.node != 0) {
      exits.push_back(one.node);
    }
  }
}

SharedMasks::SharedMasks(const Vocabulary& vocabulary)
    : costs_(Lexicon(), vocabulary), strings_(vocabulary, costs_) {
  const Lexicon lexicon;
  masks_.resize(Lexicon::common().end);
  for (LexState state = 1; state < masks_.size(); ++state) {
    masks_[state] = make_mask(lexicon, vocabulary, costs_, state);
  }
}

TokenGrammar::TokenGrammar(std::shared_ptr<const Grammar> grammar,
                           std::shared_ptr<const Vocabulary> vocabulary)
    : grammar_(std::move(grammar)),
      vocabulary_(std::move(vocabulary)),
      shortest_end_(*grammar_, *vocabulary_),
      dense_(grammar_->lexicon().dense_size()),
      sparse_(grammar_->lexicon().sparse_size()) {}

LexMask TokenGrammar::make(LexState state) const {
  const Lexicon& lexicon = grammar_->lexicon();
  const LexemeCosts& costs = shortest_end_.lexemes();
  if ((state & kSparse) == 0 && lexicon.like(state) != kDead) {
    return make_mask_like(lexicon, *vocabulary_, costs, state,
                          vocabulary_->shared_masks().of(lexicon.like(state)));
  }
  return make_mask(lexicon, *vocabulary_, costs, state);
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
  LexMask made = make(state);
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
