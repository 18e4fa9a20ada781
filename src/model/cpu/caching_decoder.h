// The part of a CPU decoder that is bookkeeping: what it holds, in which slots and blocks.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "base/check.h"
#include "model/cpu/kv_cache.h"
#include "model/decoder.h"

namespace smol::model {

class CachingDecoder : public Decoder {
 public:
  CachingDecoder(const ModelConfig& config, const DecoderOptions& options)
      : config_(config), options_(options), cache_(config, options) {}

  [[nodiscard]] const ModelConfig& config() const noexcept final { return config_; }

  [[nodiscard]] const DecoderOptions& options() const noexcept final { return options_; }

  [[nodiscard]] std::span<const float> logit_maxima() const noexcept override { return {}; }

  void give_up_when(std::function<bool()> is_unwanted) final {
    is_unwanted_ = std::move(is_unwanted);
  }

  [[nodiscard]] std::uint32_t n_tokens(SlotId slot) const noexcept final {
    return cache_.n_tokens(known(slot));
  }

  void truncate(SlotId slot, std::uint32_t n_tokens) noexcept final {
    cache_.truncate(known(slot), n_tokens);
  }

  [[nodiscard]] std::size_t n_blocks() const noexcept final { return cache_.n_blocks(); }

  [[nodiscard]] std::size_t n_free_blocks() const noexcept final { return cache_.n_free_blocks(); }

  [[nodiscard]] std::size_t blocks_needed(SlotId slot, std::size_t n_tokens) const noexcept final {
    return cache_.blocks_needed(known(slot), n_tokens);
  }

  [[nodiscard]] std::span<const BlockId> blocks(SlotId slot) const noexcept final {
    return cache_.blocks(known(slot));
  }

  void attach(SlotId slot, std::span<const BlockId> blocks) noexcept final {
    cache_.attach(known(slot), blocks);
  }

  void retain(BlockId block) noexcept final { cache_.retain(block); }

  void release(BlockId block) noexcept final { cache_.release(block); }

  void save_block(BlockId block, std::span<std::byte> to) const noexcept final {
    cache_.save_block(block, to);
  }

  [[nodiscard]] std::optional<BlockId> load_block(std::span<const std::byte> from) noexcept final {
    return cache_.load_block(from);
  }

 protected:
  bool gives_up() const { return is_unwanted_ && is_unwanted_(); }

  const ModelConfig& config_;
  DecoderOptions options_;
  KvCache cache_;

 private:
  std::function<bool()> is_unwanted_;

  [[nodiscard]] SlotId known(SlotId slot) const noexcept {
    SMOL_CHECK(slot < options_.n_slots);
    return slot;
  }
};

}  // namespace smol::model
