// The base of decoders made up for tests: one slot that always has room and shares nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/check.h"
#include "model/decoder.h"

namespace smol::test {

class BlocklessDecoder : public model::Decoder {
 public:
  std::size_t n_blocks() const noexcept final { return 1; }

  std::size_t n_free_blocks() const noexcept final { return 1; }

  std::size_t blocks_needed(SlotId /*slot*/, std::size_t /*n_tokens*/) const noexcept final {
    return 0;
  }

  std::span<const model::BlockId> blocks(SlotId /*slot*/) const noexcept final { return {}; }

  void attach(SlotId /*slot*/, std::span<const model::BlockId> blocks) noexcept final {
    SMOL_CHECK(blocks.empty());
  }

  void retain(model::BlockId /*block*/) noexcept final { SMOL_CHECK(false); }

  void release(model::BlockId /*block*/) noexcept final { SMOL_CHECK(false); }

  void save_block(model::BlockId /*block*/, std::span<std::byte> /*to*/) const noexcept final {
    SMOL_CHECK(false);
  }

  std::optional<model::BlockId> load_block(std::span<const std::byte> /*from*/) noexcept final {
    return std::nullopt;
  }
};

}  // namespace smol::test
