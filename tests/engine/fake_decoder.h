// A decoder whose logits are a hash of the tokens it holds: a wrong cache gives other logits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "model/decoder.h"
#include "support/blockless_decoder.h"

namespace smol::engine {

class FakeDecoder final : public test::BlocklessDecoder {
 public:
  explicit FakeDecoder(std::size_t vocab_size = 50, std::size_t context = 64) {
    config_.vocab_size = vocab_size;
    options_.context = context;
    options_.max_batch = 16;
  }

  const model::ModelConfig& config() const noexcept override { return config_; }

  const model::DecoderOptions& options() const noexcept override { return options_; }

  std::span<const float> forward(std::span<const model::BatchToken> batch) override {
    SMOL_CHECK(!batch.empty() && batch.size() <= options_.max_batch);
    batches.push_back(batch.size());
    if (before_forward) {
      before_forward();
    }
    logits_.clear();
    for (const model::BatchToken& one : batch) {
      SMOL_CHECK(one.position == held_.size() && held_.size() < options_.context);
      held_.push_back(one.token);
      if (one.wants_logits) {
        append_logits();
      }
    }
    return logits_;
  }

  std::uint32_t n_tokens(SlotId /*slot*/) const noexcept override {
    return static_cast<std::uint32_t>(held_.size());
  }

  void truncate(SlotId /*slot*/, std::uint32_t n_tokens) noexcept override {
    held_.resize(std::min<std::size_t>(n_tokens, held_.size()));
  }

  std::vector<std::size_t> batches;  // sizes seen
  std::function<void()> before_forward;

 private:
  void append_logits() {
    std::uint64_t hash = 14695981039346656037U;
    for (const TokenId token : held_) {
      hash = (hash ^ static_cast<std::uint64_t>(token)) * 1099511628211U;
    }
    for (std::size_t i = 0; i < config_.vocab_size; ++i) {
      hash = hash * 6364136223846793005U + 1442695040888963407U;
      logits_.push_back(static_cast<float>(hash >> 40U) / 4194304.0F);
    }
  }

  model::ModelConfig config_;
  model::DecoderOptions options_;
  std::vector<TokenId> held_;
  std::vector<float> logits_;
};

}  // namespace smol::engine
