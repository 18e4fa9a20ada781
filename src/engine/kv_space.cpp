#include "engine/kv_space.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace smol::engine {
namespace {

using model::kBlockTokens;

std::size_t common_size(std::span<const TokenId> a, std::span<const TokenId> b) noexcept {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// The last token is always computed: its logits are needed.
std::span<const TokenId> without_last(std::span<const TokenId> tokens) noexcept {
  return tokens.first(tokens.empty() ? 0 : tokens.size() - 1);
}

}  // namespace

KvSpace::KvSpace(model::Decoder& decoder)
    : decoder_(decoder), cache_(decoder), slots_(decoder.options().n_slots) {
  for (SlotId slot = 0; slot < slots_.size(); ++slot) {
    decoder_.truncate(slot, 0);
  }
}

std::size_t KvSpace::reusable(std::span<const TokenId> tokens) const {
  return find(without_last(tokens)).n_tokens;
}

std::size_t KvSpace::n_in_use(std::span<const TokenId> tokens) const {
  const auto path = cache_.find(without_last(tokens));
  return static_cast<std::size_t>(
      std::ranges::count_if(path, [](const PrefixCache::Node* node) { return node->n_users > 0; }));
}

bool KvSpace::has_slot() const noexcept {
  return std::ranges::any_of(slots_,
                             [](const Slot& slot) { return slot.state != Slot::State::Claimed; });
}

// A slot is taken over if that saves at least as many tokens as its own conversation then lacks, or
// if it would be emptied anyway.
KvSpace::Found KvSpace::find(std::span<const TokenId> tokens) const {
  Found found;
  found.path = cache_.find(tokens);
  found.n_tokens = found.path.size() * kBlockTokens;
  const std::optional<SlotId> kept = find_kept(tokens);
  if (!kept) {
    return found;
  }
  const std::vector<TokenId>& held = slots_[*kept].tokens;
  const std::size_t n_common = common_size(tokens, held);
  const std::size_t gain = n_common - std::min(n_common, found.n_tokens);
  const std::size_t loss = std::min(held.size() - n_common, held.size() % kBlockTokens);
  const bool would_go = !find_empty() && kept == oldest_kept();
  if (gain > 0 && (gain >= loss || would_go)) {
    found.slot = kept;
    found.n_tokens = n_common;
  }
  return found;
}

// The kept slot whose tokens agree the longest; of equal ones, the one that loses least.
std::optional<SlotId> KvSpace::find_kept(std::span<const TokenId> tokens) const {
  std::optional<SlotId> best;
  std::size_t most = 0;
  for (SlotId id = 0; id < slots_.size(); ++id) {
    const Slot& slot = slots_[id];
    if (slot.state != Slot::State::Kept) {
      continue;
    }
    const std::size_t n_common = common_size(tokens, slot.tokens);
    const bool loses_less = best && slot.tokens.size() < slots_[*best].tokens.size();
    if (n_common > most || (best && n_common == most && loses_less)) {
      best = id;
      most = n_common;
    }
  }
  return best;
}

std::optional<SlotId> KvSpace::find_empty() const noexcept {
  for (SlotId id = 0; id < slots_.size(); ++id) {
    if (slots_[id].state == Slot::State::Empty) {
      return id;
    }
  }
  return std::nullopt;
}

KvSpace::Claim KvSpace::claim(std::span<const TokenId> tokens, bool share, std::string owner) {
  const auto wanted = share ? without_last(tokens) : std::span<const TokenId>();
  const Found found = find(wanted);
  const SlotId id = found.slot ? *found.slot : empty_slot();
  Slot& slot = slots_[id];
  if (found.slot) {
    decoder_.truncate(id, static_cast<std::uint32_t>(found.n_tokens));
  } else {
    std::vector<model::BlockId> blocks;
    std::ranges::transform(found.path, std::back_inserter(blocks), &PrefixCache::Node::block);
    decoder_.attach(id, blocks);
  }
  const auto held = wanted.first(found.n_tokens);
  slot.tokens.assign(held.begin(), held.end());
  slot.state = Slot::State::Claimed;
  slot.shares = share;
  slot.owner = std::move(owner);
  slot.node = &cache_.root();
  slot.n_nodes = 0;
  if (share) {
    follow(slot, decoder_.blocks(id));
  }
  return {id, slot.tokens.size()};
}

// The least recently used one is emptied where all hold something.
SlotId KvSpace::empty_slot() {
  if (const std::optional<SlotId> empty = find_empty()) {
    return *empty;
  }
  const std::optional<SlotId> oldest = oldest_kept();
  SMOL_CHECK(oldest.has_value());
  clear(*oldest);
  return *oldest;
}

// Full blocks of the slot beyond its path enter the cache and the path.
void KvSpace::follow(Slot& slot, std::span<const model::BlockId> blocks) {
  while (slot.n_nodes < blocks.size()) {
    const auto tokens = std::span(slot.tokens).subspan(slot.n_nodes * kBlockTokens, kBlockTokens);
    slot.node = &cache_.insert(*slot.node, tokens, blocks[slot.n_nodes]);
    slot.node->owners.insert(slot.owner);
    cache_.use(*slot.node);
    ++slot.n_nodes;
  }
}

void KvSpace::advance(SlotId id, std::span<const TokenId> tokens) {
  Slot& slot = slots_[id];
  SMOL_CHECK(slot.state == Slot::State::Claimed);
  slot.tokens.insert(slot.tokens.end(), tokens.begin(), tokens.end());
  decoder_.truncate(id, static_cast<std::uint32_t>(slot.tokens.size()));
  if (slot.shares) {
    follow(slot, decoder_.blocks(id));
  }
}

void KvSpace::release(SlotId id) {
  Slot& slot = slots_[id];
  SMOL_CHECK(slot.state == Slot::State::Claimed);
  slot.last_used = tick();
  if (slot.n_nodes > 0) {
    cache_.leave(*slot.node, slot.last_used);
  }
  slot.node = nullptr;
  slot.n_nodes = 0;
  slot.state = Slot::State::Kept;
  if (!slot.shares || slot.tokens.empty()) {
    clear(id);
  }
}

void KvSpace::forget(const std::string& owner) {
  for (SlotId id = 0; id < slots_.size(); ++id) {
    if (slots_[id].state == Slot::State::Kept && slots_[id].owner == owner) {
      clear(id);
    }
  }
  cache_.forget(owner);
}

void KvSpace::clear(SlotId id) noexcept {
  decoder_.truncate(id, 0);
  slots_[id].tokens.clear();
  slots_[id].state = Slot::State::Empty;
}

std::optional<SlotId> KvSpace::oldest_kept() const noexcept {
  std::optional<SlotId> oldest;
  for (SlotId id = 0; id < slots_.size(); ++id) {
    if (slots_[id].state == Slot::State::Kept &&
        (!oldest || slots_[id].last_used < slots_[*oldest].last_used)) {
      oldest = id;
    }
  }
  return oldest;
}

bool KvSpace::make_room(std::size_t n_blocks) {
  while (decoder_.n_free_blocks() < n_blocks) {
    const std::optional<SlotId> slot = oldest_kept();
    PrefixCache::Node* const leaf = cache_.oldest();
    // A kept slot goes before blocks as old as it: while it holds them, they would not be freed.
    if (slot && (leaf == nullptr || slots_[*slot].last_used <= leaf->last_used)) {
      clear(*slot);
    } else if (leaf != nullptr) {
      cache_.evict(*leaf);
    } else {
      return false;
    }
  }
  return true;
}

std::size_t KvSpace::n_available() const noexcept {
  return decoder_.n_free_blocks() + n_kept();
}

// Blocks of the cache without users, and of each kept slot the last one, which is in no cache.
std::size_t KvSpace::n_kept() const noexcept {
  const auto tails = std::ranges::count_if(slots_, [](const Slot& slot) {
    return slot.state == Slot::State::Kept && slot.tokens.size() % kBlockTokens != 0;
  });
  return cache_.n_unused() + static_cast<std::size_t>(tails);
}

}  // namespace smol::engine
