// Keys and values of all slots, in blocks of kBlockTokens positions over all layers and KV heads.
// Slots draw blocks from one budget and may share full ones. All lie in one arena whose pages are
// taken as positions are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/huge_page_arena.h"
#include "base/ids.h"
#include "kernels/kernel_table.h"
#include "model/config.h"
#include "model/decoder.h"

namespace smol::model {

// One thread, but for tile(), which any may call while none changes a slot.
class KvCache {
 public:
  // Throws Error{Exhausted} with needed and available bytes.
  KvCache(const ModelConfig& config, const DecoderOptions& options);

  [[nodiscard]] kernels::KvFormat format() const noexcept { return format_; }

  // The tile that holds `position` of the slot, which must have been appended.
  [[nodiscard]] std::byte* tile(SlotId slot, std::size_t layer, std::size_t kv_head,
                                std::size_t position) const noexcept {
    const BlockId block = slots_[slot].blocks[position / kBlockTokens];
    return block_data(block) + (layer * n_kv_heads_ + kv_head) * tile_bytes_;
  }

  [[nodiscard]] std::uint32_t n_tokens(SlotId slot) const noexcept { return slots_[slot].n_tokens; }

  // As Decoder's members of these names.
  [[nodiscard]] std::size_t n_blocks() const noexcept { return n_blocks_; }

  [[nodiscard]] std::size_t n_free_blocks() const noexcept;
  [[nodiscard]] std::size_t blocks_needed(SlotId slot, std::size_t n_tokens) const noexcept;
  [[nodiscard]] std::span<const BlockId> blocks(SlotId slot) const noexcept;
  void attach(SlotId slot, std::span<const BlockId> blocks) noexcept;
  void truncate(SlotId slot, std::uint32_t n_tokens) noexcept;
  void retain(BlockId block) noexcept;
  void release(BlockId block) noexcept;
  void save_block(BlockId block, std::span<std::byte> to) const noexcept;
  [[nodiscard]] std::optional<BlockId> load_block(std::span<const std::byte> from) noexcept;

  // Makes room for one more position, in a block that only this slot holds.
  void append(SlotId slot) noexcept;

 private:
  struct Slot {
    std::vector<BlockId> blocks;  // those that hold its tokens, the last one perhaps in part
    std::uint32_t n_tokens = 0;
  };

  [[nodiscard]] std::byte* block_data(BlockId block) const noexcept {
    return memory_.data() + std::size_t{block} * block_bytes_;
  }

  // A block with one reference; there must be a free one.
  BlockId take() noexcept;

  kernels::KvFormat format_;
  std::size_t n_kv_heads_;
  std::size_t tile_bytes_, block_bytes_, n_blocks_;
  HugePageArena memory_;                     // [n_blocks, n_layers, n_kv_heads, tile_bytes]
  std::size_t most_blocks_;                  // full ones, of one slot
  std::vector<std::uint32_t> n_references_;  // [n_blocks]
  std::vector<BlockId> freed_;               // written before, taken first
  std::size_t n_touched_ = 0;                // blocks from here on were never taken
  std::vector<Slot> slots_;                  // [n_slots]
};

}  // namespace smol::model
