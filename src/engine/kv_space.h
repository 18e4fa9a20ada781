// The memory of the sequences: who holds which slot of the decoder, what slots keep after their
// sequence has ended, and what goes when room is needed.
//
// Full blocks enter the prefix cache as soon as they are full, so that sequences at work share
// them, too. A slot whose sequence has ended keeps its tokens, the last ones that fill no block
// included, until it is needed: the next turn of that conversation takes it over as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "engine/prefix_cache.h"
#include "model/decoder.h"

namespace smol::engine {

// One thread. The decoder must outlive it, and nobody else may change its slots.
class KvSpace {
 public:
  explicit KvSpace(model::Decoder& decoder);

  struct Claim {
    SlotId slot;
    std::size_t n_tokens;  // that it holds already
  };

  // Of `tokens`, how many a claim now would find.
  std::size_t reusable(std::span<const TokenId> tokens) const;

  // Full blocks that `tokens` begins with and that sequences at work hold.
  std::size_t n_in_use(std::span<const TokenId> tokens) const;

  // Whether a slot is to be had.
  bool has_slot() const noexcept;

  // A slot for a sequence that begins with `tokens`, of which the last one is always left to
  // compute. `share`: it may take what others left, and leaves its own, as this owner's. Requires
  // has_slot().
  Claim claim(std::span<const TokenId> tokens, bool share, std::string owner = {});

  // The decoder holds these further tokens in a claimed slot; what it holds beyond them goes.
  void advance(SlotId slot, std::span<const TokenId> tokens);

  // The sequence has ended, or waits: what the slot holds may be taken over or go.
  void release(SlotId slot);

  // Of a claimed slot.
  std::span<const TokenId> tokens(SlotId slot) const noexcept { return slots_[slot].tokens; }

  // What only this owner's sequences left goes, unless one is at work.
  void forget(const std::string& owner);

  // Lets go what nobody uses, least recently used first, until so many blocks are free. False: that
  // was not enough.
  bool make_room(std::size_t n_blocks);

  // Blocks that are free or that make_room() could free, at least.
  std::size_t n_available() const noexcept;

  // Blocks that are kept for later prompts only, at most.
  std::size_t n_kept() const noexcept;

  PrefixCache& cache() noexcept { return cache_; }

  // The time by which things are used more or less lately.
  std::uint64_t tick() noexcept { return ++clock_; }

 private:
  struct Slot {
    enum class State { Empty, Kept, Claimed } state = State::Empty;
    bool shares = false;
    std::string owner;
    std::vector<TokenId> tokens;        // that the decoder holds in it
    PrefixCache::Node* node = nullptr;  // claimed: the deepest one of its path; nullptr: none
    std::size_t n_nodes = 0;            // of that path
    std::uint64_t last_used = 0;
  };

  // What a sequence may begin with: a kept slot as it is, or else blocks of the cache.
  struct Found {
    std::optional<SlotId> slot;
    std::vector<const PrefixCache::Node*> path;
    std::size_t n_tokens = 0;
  };

  Found find(std::span<const TokenId> tokens) const;
  std::optional<SlotId> find_kept(std::span<const TokenId> tokens) const;
  std::optional<SlotId> find_empty() const noexcept;
  SlotId empty_slot();
  void follow(Slot& slot, std::span<const model::BlockId> blocks);
  void clear(SlotId slot) noexcept;
  std::optional<SlotId> oldest_kept() const noexcept;

  model::Decoder& decoder_;
  PrefixCache cache_;
  std::vector<Slot> slots_;
  std::uint64_t clock_ = 0;
};

}  // namespace smol::engine
