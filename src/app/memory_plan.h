// Whether a model with its key/value cache fits memory, known before anything is reserved.
#pragma once

#include <cstddef>
#include <cstdint>

#include "app/options.h"
#include "model/config.h"
#include "model/decoder.h"

namespace smol::app {

struct MemoryNeed {
  std::uint64_t weight_bytes;        // of the file; in memory they take as many
  std::uint64_t bytes_per_position;  // keys and values of all layers
  std::uint64_t working_bytes;       // activations, logits, tokenizer

  std::uint64_t total(std::size_t context) const noexcept {
    return weight_bytes + working_bytes + bytes_per_position * context;
  }
};

MemoryNeed memory_need(const model::ModelConfig& config, model::KvCacheType kv_type,
                       std::uint64_t file_bytes);

// Positions to reserve. `available_bytes` 0: unknown, nothing is refused. Throws Error{Exhausted}
// with needed and available bytes and the largest context that fits.
std::size_t plan_context(const ContextChoice& choice, const model::ModelConfig& config,
                         const MemoryNeed& need, std::uint64_t available_bytes);

// Blocks of the cache for `n_contexts` contexts, always one whole. Those of further ones take at
// most half of the memory that the first one leaves. `available_bytes` 0: unknown.
std::size_t plan_blocks(std::size_t context, std::size_t n_contexts, const MemoryNeed& need,
                        std::uint64_t available_bytes);

}  // namespace smol::app
