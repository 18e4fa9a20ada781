// A decoder with real blocks and slots whose logits are a hash of the tokens that these hold: any
// mistake in slots, positions or blocks gives other logits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "model/cpu/caching_decoder.h"
#include "model/decoder.h"

namespace smol::engine {

struct FakeSpec {
  std::size_t vocab_size = 50;
  std::size_t context = 64;
  std::size_t n_slots = 1;
  std::size_t n_blocks = 0;
  std::size_t max_batch = 16;
  std::size_t memory = 0;  // tokens that logits depend on, the latest; 0: all
};

// What a base class refers to must be there before it.
struct FakeConfig {
  explicit FakeConfig(const FakeSpec& spec) {
    model.n_layers = 1;
    model.n_kv_heads = 1;
    model.head_dim = 32;
    model.d_model = 4;
    model.vocab_size = spec.vocab_size;
  }

  model::ModelConfig model;
};

class FakeDecoder final : private FakeConfig, public model::CachingDecoder {
 public:
  explicit FakeDecoder(const FakeSpec& spec = {})
      : FakeConfig(spec),
        CachingDecoder(FakeConfig::model, {.n_slots = spec.n_slots,
                                           .context = spec.context,
                                           .kv_type = model::KvCacheType::F16,
                                           .max_batch = spec.max_batch,
                                           .n_blocks = spec.n_blocks}),
        memory_(spec.memory) {}

  std::span<const float> forward(std::span<const model::BatchToken> batch) override {
    SMOL_CHECK(!batch.empty() && batch.size() <= options_.max_batch);
    batches.push_back(batch.size());
    if (before_forward) {
      before_forward();
    }
    const bool is_given_up = gives_up();
    if (during_forward) {
      during_forward();
    }
    logits_.clear();
    hidden_.clear();
    for (const model::BatchToken& one : batch) {
      SMOL_CHECK(one.position == cache_.n_tokens(one.slot) && one.position < options_.context);
      cache_.append(one.slot);
      if (is_given_up) {
        continue;
      }
      std::memcpy(place(one.slot, one.position), &one.token, sizeof(TokenId));
      const std::uint64_t hash = hash_of(one.slot);
      hidden_.push_back(hash);
      if (one.wants_logits) {
        append_logits(hash);
      }
    }
    n_given_up += is_given_up ? 1U : 0U;
    return logits_;
  }

  void hidden_state(std::size_t token, std::span<float> out) const noexcept override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<float>((hidden_[token] >> (8 * i)) & 255U) - 127.5F;
    }
  }

  // What the slot holds.
  std::vector<TokenId> tokens(SlotId slot) const {
    std::vector<TokenId> out(n_tokens(slot));
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::memcpy(&out[i], place(slot, i), sizeof(TokenId));
    }
    return out;
  }

  std::vector<std::size_t> batches;      // sizes seen; on the thread that calls forward()
  std::size_t n_given_up = 0;            // of these
  std::function<void()> before_forward;  // may throw
  std::function<void()> during_forward;  // after it asked whether to give up

 private:
  std::byte* place(SlotId slot, std::size_t position) const {
    return cache_.tile(slot, 0, 0, position) + position % model::kBlockTokens * sizeof(TokenId);
  }

  std::uint64_t hash_of(SlotId slot) const {
    std::vector<TokenId> held = tokens(slot);
    if (memory_ != 0 && held.size() > memory_) {
      held.erase(held.begin(), held.end() - static_cast<std::ptrdiff_t>(memory_));
    }
    std::uint64_t hash = 14695981039346656037U;
    for (const TokenId token : held) {
      hash = (hash ^ static_cast<std::uint64_t>(token)) * 1099511628211U;
    }
    return hash;
  }

  void append_logits(std::uint64_t hash) {
    for (std::size_t i = 0; i < config().vocab_size; ++i) {
      hash = hash * 6364136223846793005U + 1442695040888963407U;
      logits_.push_back(static_cast<float>(hash >> 40U) / 4194304.0F);
    }
  }

  std::size_t memory_;
  std::vector<float> logits_;
  std::vector<std::uint64_t> hidden_;  // of the latest batch
};

}  // namespace smol::engine
