// Keys and values of all slots and layers. Reserved for the whole context, touched as positions are
// written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "kernels/kernel_table.h"
#include "model/config.h"
#include "model/cpu/reserved_array.h"
#include "model/decoder.h"

namespace smol::model {

class KvCache {
 public:
  // Throws Error{Exhausted} with needed and available bytes.
  KvCache(const ModelConfig& config, const DecoderOptions& options);

  [[nodiscard]] kernels::KvHead head(SlotId slot, std::size_t layer,
                                     std::size_t kv_head) const noexcept;

  [[nodiscard]] std::uint32_t n_tokens(SlotId slot) const noexcept { return n_tokens_[slot]; }

  void set_n_tokens(SlotId slot, std::uint32_t count) noexcept { n_tokens_[slot] = count; }

 private:
  kernels::KvType type_;
  std::size_t n_layers_, n_kv_heads_, head_dim_;
  std::size_t half_bytes_;  // the keys (or the values) of one head in one layer and slot
  ReservedBytes memory_;
  std::vector<std::uint32_t> n_tokens_;  // [n_slots]
};

}  // namespace smol::model
