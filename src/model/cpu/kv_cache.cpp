#include "model/cpu/kv_cache.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>

#include "base/check.h"
#include "base/cpu_info.h"
#include "base/error.h"
#include "kernels/kv_tile.h"

namespace smol::model {

namespace {

static_assert(kBlockTokens == kernels::kStep);  // a block is one tile of each KV head

// SIZE_MAX where the product overflows: more than any machine has.
std::size_t product(std::initializer_list<std::size_t> factors) noexcept {
  std::size_t result = 1;
  for (const std::size_t factor : factors) {
    if (__builtin_mul_overflow(result, factor, &result)) {
      return std::numeric_limits<std::size_t>::max();
    }
  }
  return result;
}

std::size_t blocks_of(std::size_t n_tokens) noexcept {
  return (n_tokens + kBlockTokens - 1) / kBlockTokens;
}

std::size_t budget(const DecoderOptions& options) noexcept {
  return options.n_blocks != 0 ? options.n_blocks
                               : product({options.n_slots, blocks_of(options.context)});
}

kernels::KvType stored_as(KvCacheType type) noexcept {
  switch (type) {
    case KvCacheType::F32:
      return kernels::KvType::F32;
    case KvCacheType::F16:
      return kernels::KvType::F16;
    case KvCacheType::Int8:
      break;
  }
  return kernels::KvType::Int8;
}

kernels::KvFormat format_of(const ModelConfig& config, KvCacheType type) noexcept {
  return {stored_as(type), config.head_dim};
}

// Of the arena. Throws before anything is taken.
std::size_t checked_bytes(std::size_t n_blocks, std::size_t block_bytes) {
  const std::size_t needed = product({n_blocks, block_bytes});
  const std::uint64_t available = available_memory_bytes();
  // Where the system does not tell, mmap decides.
  const bool has_ids = n_blocks <= std::numeric_limits<BlockId>::max();
  if (!has_ids || (available != 0 && needed > available)) {
    throw Error(ErrorCode::Exhausted, "key/value cache: " + std::to_string(n_blocks) +
                                          " blocks of " + std::to_string(kBlockTokens) +
                                          " positions need " + std::to_string(needed) + " bytes, " +
                                          std::to_string(available) + " are available");
  }
  return needed;
}

}  // namespace

std::size_t kv_block_bytes(const ModelConfig& config, KvCacheType type) noexcept {
  return config.n_layers * config.n_kv_heads * kernels::tile_bytes(format_of(config, type));
}

KvCache::KvCache(const ModelConfig& config, const DecoderOptions& options)
    : format_(format_of(config, options.kv_type)),
      n_kv_heads_(config.n_kv_heads),
      tile_bytes_(kernels::tile_bytes(format_)),
      block_bytes_(kv_block_bytes(config, options.kv_type)),
      n_blocks_(budget(options)),
      memory_(checked_bytes(n_blocks_, block_bytes_)),
      most_blocks_(options.context / kBlockTokens),
      n_references_(n_blocks_, 0),
      slots_(options.n_slots) {
  freed_.reserve(n_blocks_);
  for (Slot& slot : slots_) {
    slot.blocks.reserve(blocks_of(options.context));
  }
}

std::size_t KvCache::n_free_blocks() const noexcept {
  return n_blocks_ - n_touched_ + freed_.size();
}

std::size_t KvCache::blocks_needed(SlotId slot, std::size_t n_tokens) const noexcept {
  if (n_tokens == 0) {
    return 0;
  }
  const Slot& held = slots_[slot];
  const bool copies = held.n_tokens % kBlockTokens != 0 && n_references_[held.blocks.back()] > 1;
  return blocks_of(held.n_tokens + n_tokens) - held.blocks.size() + (copies ? 1U : 0U);
}

std::span<const BlockId> KvCache::blocks(SlotId slot) const noexcept {
  return std::span(slots_[slot].blocks).first(slots_[slot].n_tokens / kBlockTokens);
}

void KvCache::attach(SlotId slot, std::span<const BlockId> blocks) noexcept {
  Slot& held = slots_[slot];
  SMOL_CHECK(held.n_tokens == 0 && blocks.size() <= most_blocks_);
  for (const BlockId block : blocks) {
    retain(block);
    held.blocks.push_back(block);
  }
  held.n_tokens = static_cast<std::uint32_t>(blocks.size() * kBlockTokens);
}

void KvCache::truncate(SlotId slot, std::uint32_t n_tokens) noexcept {
  Slot& held = slots_[slot];
  SMOL_CHECK(n_tokens <= held.n_tokens);
  while (held.blocks.size() > blocks_of(n_tokens)) {
    release(held.blocks.back());
    held.blocks.pop_back();
  }
  held.n_tokens = n_tokens;
}

void KvCache::retain(BlockId block) noexcept {
  SMOL_CHECK(block < n_blocks_ && n_references_[block] > 0);
  ++n_references_[block];
}

void KvCache::release(BlockId block) noexcept {
  SMOL_CHECK(block < n_blocks_ && n_references_[block] > 0);
  if (--n_references_[block] == 0) {
    freed_.push_back(block);
  }
}

void KvCache::save_block(BlockId block, std::span<std::byte> to) const noexcept {
  SMOL_CHECK(block < n_blocks_ && n_references_[block] > 0 && to.size() == block_bytes_);
  std::memcpy(to.data(), block_data(block), block_bytes_);
}

std::optional<BlockId> KvCache::load_block(std::span<const std::byte> from) noexcept {
  SMOL_CHECK(from.size() == block_bytes_);
  if (n_free_blocks() == 0) {
    return std::nullopt;
  }
  const BlockId block = take();
  std::memcpy(block_data(block), from.data(), block_bytes_);
  return block;
}

void KvCache::append(SlotId slot) noexcept {
  Slot& held = slots_[slot];
  if (held.n_tokens % kBlockTokens == 0) {
    held.blocks.push_back(take());
  } else if (BlockId& last = held.blocks.back(); n_references_[last] > 1) {
    const BlockId own = take();
    std::memcpy(block_data(own), block_data(last), block_bytes_);
    release(last);
    last = own;
  }
  ++held.n_tokens;
}

BlockId KvCache::take() noexcept {
  SMOL_CHECK(n_free_blocks() > 0);
  BlockId block = 0;
  if (freed_.empty()) {
    block = static_cast<BlockId>(n_touched_++);
  } else {
    block = freed_.back();
    freed_.pop_back();
  }
  n_references_[block] = 1;
  return block;
}

}  // namespace smol::model
