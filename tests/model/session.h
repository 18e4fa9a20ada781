// A model with its weights, pool and decoder, for tests that run tokens.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/thread_pool.h"
#include "gguf/file.h"
#include "kernels/kernel_table.h"
#include "model/decoder.h"
#include "model/weights.h"

namespace smol::model {

// The file must outlive it.
class Session {
 public:
  Session(const gguf::File& file, const DecoderOptions& options, std::size_t threads = 1)
      : pool_(threads),
        weights_(file, ModelConfig::from_gguf(file, options.context), pool_),
        decoder_(make_cpu_decoder(weights_, options, pool_, kernels::active_kernels())) {}

  Decoder& decoder() noexcept { return *decoder_; }

  const ModelConfig& config() const noexcept { return weights_.config(); }

  // Logits [n_ids, vocab_size] of ids appended to the slot, `chunk` at a time.
  std::vector<float> append(std::span<const TokenId> ids, std::size_t chunk, SlotId slot = 0) {
    std::vector<float> logits;
    for (std::size_t begin = 0; begin < ids.size(); begin += chunk) {
      std::vector<BatchToken> batch;
      for (std::size_t i = begin; i < std::min(begin + chunk, ids.size()); ++i) {
        const auto position = static_cast<std::uint32_t>(decoder_->n_tokens(slot) + batch.size());
        batch.push_back({ids[i], position, slot, true});
      }
      const std::span<const float> rows = decoder_->forward(batch);
      logits.insert(logits.end(), rows.begin(), rows.end());
    }
    return logits;
  }

 private:
  ThreadPool pool_;
  Weights weights_;
  std::unique_ptr<Decoder> decoder_;
};

// Ids that look random, all in [0, vocab_size).
inline std::vector<TokenId> some_ids(std::size_t count, std::size_t vocab_size) {
  std::vector<TokenId> ids;
  for (std::size_t i = 0; i < count; ++i) {
    ids.push_back(static_cast<TokenId>((i * i * 7 + i * 13 + 5) % vocab_size));
  }
  return ids;
}

}  // namespace smol::model
