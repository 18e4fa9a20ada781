// The seam between "which tokens" and "which device": one virtual call a step. One caller thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

enum class KvCacheType : std::uint8_t { F32, F16 };

struct DecoderOptions {
  std::size_t n_slots = 1;
  std::size_t context = 4096;  // positions per slot, reserved (not touched) at construction
  KvCacheType kv_type = KvCacheType::F16;
  std::size_t max_batch = 512;  // most tokens of one forward()
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  [[nodiscard]] virtual const ModelConfig& config() const noexcept = 0;
  [[nodiscard]] virtual const DecoderOptions& options() const noexcept = 0;
  // Runs every layer over `batch`, appending K and V to each token's slot (prefill and decode
  // alike). Returns logits [n_wanted, vocab_size] in batch order, valid until the next call. The
  // bits do not depend on how tokens are grouped into batches nor on threads. Requires
  // (SMOL_CHECK): ids, slots and positions in range, at most max_batch tokens.
  virtual std::span<const float> forward(std::span<const BatchToken> batch) = 0;
  // Tokens held by the slot.
  [[nodiscard]] virtual std::uint32_t n_tokens(SlotId slot) const noexcept = 0;
  // Keeps the first `n_tokens` of the slot: an edited prompt reuses its common prefix.
  virtual void truncate(SlotId slot, std::uint32_t n_tokens) noexcept = 0;
};

// Weights, pool and kernels must outlive the decoder. Throws Error{Exhausted} with needed and
// available bytes when memory for the caches cannot be had.
std::unique_ptr<Decoder> make_cpu_decoder(const Weights& weights, const DecoderOptions& options,
                                          ThreadPool& pool, const kernels::KernelTable& kernels);

}  // namespace smol::model
