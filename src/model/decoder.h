// The seam between "which tokens" and "which device": one virtual call a step. One caller thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/ids.h"
#include "model/config.h"

namespace smol {
class ThreadPool;
}

namespace smol::kernels {
struct KernelTable;
}

namespace smol::model {

class Weights;

struct BatchToken {
  TokenId token;           // in [0, vocab_size)
  std::uint32_t position;  // == tokens already in `slot`, earlier ones of this batch included
  SlotId slot;
  bool wants_logits;  // false for all but the last token of a prompt
};

// How keys and values are kept. Int8: codes, with one half as the scale of each key and each value
// of a KV head.
enum class KvCacheType : std::uint8_t { F32, F16, Int8 };

// Keys and values are kept in blocks of this many positions, each over all layers.
inline constexpr std::size_t kBlockTokens = 64;
// Ids that share an entry of logit_maxima().
inline constexpr std::size_t kMaximumIds = 16;
// A block of one decoder, in [0, n_blocks).
using BlockId = std::uint32_t;

struct DecoderOptions {
  std::size_t n_slots = 1;
  std::size_t context = 4096;  // most positions of one slot
  KvCacheType kv_type = KvCacheType::Int8;
  std::size_t max_batch = 512;  // most tokens of one forward()
  // Blocks that all slots draw from, reserved (not touched) at construction; 0: as many as every
  // slot can fill.
  std::size_t n_blocks = 0;
};

// Bytes of one block.
std::size_t kv_block_bytes(const ModelConfig& config, KvCacheType type) noexcept;

class Decoder {
 public:
  virtual ~Decoder() = default;
  [[nodiscard]] virtual const ModelConfig& config() const noexcept = 0;
  [[nodiscard]] virtual const DecoderOptions& options() const noexcept = 0;
  // Runs every layer over `batch`, appending K and V to each token's slot (prefill and decode
  // alike). Returns logits [n_wanted, vocab_size] in batch order, valid until the next call. The
  // bits do not depend on how tokens are grouped into batches nor on threads. Requires
  // (SMOL_CHECK): ids, slots and positions in range, at most max_batch tokens, and as many free
  // blocks as blocks_needed() says.
  virtual std::span<const float> forward(std::span<const BatchToken> batch) = 0;
  // The largest of every kMaximumIds logits, NaN left out, found while the rows were written:
  // [n_wanted, ceil(vocab_size / kMaximumIds)], valid as long as they are. Empty: not known.
  [[nodiscard]] virtual std::span<const float> logit_maxima() const noexcept = 0;
  // Asked by forward() between layers, on its thread. Where it says true, forward() returns early:
  // its logits are void, and so is what the slots hold beyond the tokens of before.
  virtual void give_up_when(std::function<bool()> is_unwanted) = 0;
  // The last hidden state (what the output matrix multiplies) of one token of the latest batch.
  // out [d_model]. Requires that forward() has ended well.
  virtual void hidden_state(std::size_t token, std::span<float> out) const noexcept = 0;
  // Tokens held by the slot.
  [[nodiscard]] virtual std::uint32_t n_tokens(SlotId slot) const noexcept = 0;
  // Keeps the first `n_tokens` of the slot: an edited prompt reuses its common prefix.
  virtual void truncate(SlotId slot, std::uint32_t n_tokens) noexcept = 0;

  // Full blocks never change and may be shared: by slots that begin with the same tokens, and with
  // the caller, who holds references of its own. A block is free when nobody holds it.

  // Blocks that all slots and the caller may hold, and those that nobody holds.
  [[nodiscard]] virtual std::size_t n_blocks() const noexcept = 0;
  [[nodiscard]] virtual std::size_t n_free_blocks() const noexcept = 0;
  // Blocks that `n_tokens` more tokens in the slot take: new ones, and a copy of a last one that is
  // shared (after truncate()).
  [[nodiscard]] virtual std::size_t blocks_needed(SlotId slot,
                                                  std::size_t n_tokens) const noexcept = 0;
  // The slot's full blocks in order, valid until the slot changes.
  [[nodiscard]] virtual std::span<const BlockId> blocks(SlotId slot) const noexcept = 0;
  // An empty slot shares held blocks and with them their tokens, in order. Requires (SMOL_CHECK)
  // that the context has room for them. Their tokens must have followed each other from position 0.
  virtual void attach(SlotId slot, std::span<const BlockId> blocks) noexcept = 0;
  // One reference more or less of the caller's to a block that is held.
  virtual void retain(BlockId block) noexcept = 0;
  virtual void release(BlockId block) noexcept = 0;
  // Copies all that a held block contains, kv_block_bytes(), to be saved.
  virtual void save_block(BlockId block, std::span<std::byte> to) const noexcept = 0;
  // A new block of saved bytes, with one reference, the caller's; nothing where no block is free.
  [[nodiscard]] virtual std::optional<BlockId> load_block(
      std::span<const std::byte> from) noexcept = 0;
};

// Weights, pool and kernels must outlive the decoder. Throws Error{Exhausted} with needed and
// available bytes when memory for the caches cannot be had.
std::unique_ptr<Decoder> make_cpu_decoder(const Weights& weights, const DecoderOptions& options,
                                          ThreadPool& pool, const kernels::KernelTable& kernels);

}  // namespace smol::model
