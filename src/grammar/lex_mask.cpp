#include "grammar/lex_mask.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace smol::grammar {
namespace {

class MaskMaker {
 public:
  MaskMaker(const Lexicon& lexicon, const Vocabulary& vocabulary, const LexemeCosts& costs)
      : lexicon_(lexicon), vocabulary_(vocabulary), costs_(costs) {}

  LexMask whole(LexState start) {
    const auto trie = vocabulary_.trie();
    walk_trie(
        vocabulary_, start, 0,
        [&](LexState from, std::uint8_t byte, std::uint32_t&) { return lexicon_.next(from, byte); },
        [&](std::uint32_t node, LexState at, std::uint32_t) {
          if (trie[node].token >= 0) {
            add(trie[node].token, at);
          }
          if (lexicon_.accepts(at) && trie[node].end > node + 1) {
            mask_.exits.push_back(node);
          }
        });
    return finish();
  }

  // Walks only where the two states lead apart.
  LexMask beside(const LexMask& base, LexState state) {
    mask_.base = &base;
    for (unsigned byte = 0; byte < 256; ++byte) {
      if (const auto node = vocabulary_.first_level(static_cast<std::uint8_t>(byte)); node != 0) {
        compare(node, state, lexicon_.like(state));
      }
    }
    std::vector<std::uint32_t> kept;
    std::set_difference(base.exits.begin(), base.exits.end(), lost_exits_.begin(),
                        lost_exits_.end(), std::back_inserter(kept));
    std::vector<std::uint32_t> gained;
    gained.swap(mask_.exits);
    std::merge(kept.begin(), kept.end(), gained.begin(), gained.end(),
               std::back_inserter(mask_.exits));
    return finish();
  }

 private:
  void add(TokenId token, LexState at) {
    const Cost cost = costs_.of(at);
    if (last_ == nullptr || cost != last_cost_) {
      last_ = &tokens_[cost];
      last_cost_ = cost;
    }
    last_->push_back(token);
  }

  // A node, and the states before its byte: of the mask in the making, and of its base.
  void compare(std::uint32_t node, LexState state, LexState like) {
    const auto trie = vocabulary_.trie();
    const LexState next = lexicon_.next(state, trie[node].byte);
    const LexState alike = lexicon_.next(like, trie[node].byte);
    if (next == alike) {
      return;
    }
    if (trie[node].token >= 0) {
      if (alike != kDead) {
        mask_.without.push_back(trie[node].token);
      }
      if (next != kDead) {
        add(trie[node].token, next);
      }
    }
    if (trie[node].end == node + 1) {
      return;
    }
    if (lexicon_.accepts(next)) {
      mask_.exits.push_back(node);
    }
    if (lexicon_.accepts(alike)) {
      lost_exits_.push_back(node);
    }
    for (std::uint32_t child = node + 1; child < trie[node].end; child = trie[child].end) {
      compare(child, next, alike);
    }
  }

  LexMask finish() {
    const std::size_t n_words = vocabulary_.mask_words();
    for (auto& [cost, tokens] : tokens_) {
      LexMask::Level& level = mask_.levels.emplace_back();
      level.cost = cost;
      if (tokens.size() <= n_words) {
        level.tokens = std::move(tokens);
        level.tokens.shrink_to_fit();
        continue;
      }
      level.bits.resize(n_words);
      for (const TokenId token : tokens) {
        allow_token(level.bits, token);
      }
    }
    mask_.exits.shrink_to_fit();
    return std::move(mask_);
  }

  const Lexicon& lexicon_;
  const Vocabulary& vocabulary_;
  const LexemeCosts& costs_;
  LexMask mask_;
  std::vector<std::uint32_t> lost_exits_;
  std::map<Cost, std::vector<TokenId>> tokens_;
  std::vector<TokenId>* last_ = nullptr;
  Cost last_cost_ = 0;
};

}  // namespace

void LexMask::add_to(MaskWords mask, Cost below) const {
  if (base != nullptr) {
    std::vector<TokenId> only_in_base;
    std::copy_if(without.begin(), without.end(), std::back_inserter(only_in_base),
                 [&](TokenId token) { return !is_allowed(mask, token); });
    base->add_to(mask, below);
    for (const TokenId token : only_in_base) {
      forbid_token(mask, token);
    }
  }
  for (const Level& level : levels) {
    if (level.cost >= below) {
      return;
    }
    for (std::size_t i = 0; i < level.bits.size(); ++i) {
      mask[i] |= level.bits[i];
    }
    for (const TokenId token : level.tokens) {
      allow_token(mask, token);
    }
  }
}

std::size_t LexMask::size_bytes() const noexcept {
  std::size_t n =
      sizeof(LexMask) + without.size() * sizeof(TokenId) + exits.size() * sizeof(std::uint32_t);
  for (const Level& level : levels) {
    n += sizeof(Level) + level.bits.size() * sizeof(std::uint64_t) +
         level.tokens.size() * sizeof(TokenId);
  }
  return n;
}

LexMask make_mask(const Lexicon& lexicon, const Vocabulary& vocabulary, const LexemeCosts& costs,
                  LexState state) {
  return MaskMaker(lexicon, vocabulary, costs).whole(state);
}

LexMask make_mask_like(const Lexicon& lexicon, const Vocabulary& vocabulary,
                       const LexemeCosts& costs, LexState state, const LexMask& base) {
  return MaskMaker(lexicon, vocabulary, costs).beside(base, state);
}

}  // namespace smol::grammar
