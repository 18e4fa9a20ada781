// A decoder that writes a given answer after any prompt, then <|im_end|> for ever. Where </think>
// is put in early it goes on with what the script has behind it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "chat/demo_chat.h"
#include "chat/message.h"
#include "model/cpu/caching_decoder.h"
#include "model/decoder.h"

namespace smol::chat {

// What a base class refers to must be there before it.
struct ScriptedConfig {
  ScriptedConfig() {
    model.n_layers = 1;
    model.n_kv_heads = 1;
    model.head_dim = 32;
    model.d_model = 3;
    model.vocab_size = demo_chat().tokenizer.vocab_size();
  }

  model::ModelConfig model;
};

class ScriptedDecoder final : private ScriptedConfig, public model::CachingDecoder {
 public:
  explicit ScriptedDecoder(const std::vector<Piece>& answer, std::size_t context = 4096)
      : CachingDecoder(ScriptedConfig::model, {.n_slots = 1, .context = context, .max_batch = 64}) {
    const text::Tokenizer& tokenizer = demo_chat().tokenizer;
    for (const Piece& piece : answer) {
      const auto ids = tokenizer.encode(
          piece.text, piece.is_tag ? text::AddedTokens::All : text::AddedTokens::None);
      script_.insert(script_.end(), ids.begin(), ids.end());
    }
    script_.push_back(tokenizer.find("<|im_end|>").value());
    close_ = tokenizer.find("</think>").value();
  }

  std::span<const float> forward(std::span<const model::BatchToken> batch) override {
    logits_.clear();
    for (const model::BatchToken& one : batch) {
      cache_.append(one.slot);
      if (one.wants_logits) {
        go_on_behind(one.token);
        logits_.resize(logits_.size() + config().vocab_size, 0.0F);
        const auto next = static_cast<std::size_t>(script_.at(next_));
        logits_[logits_.size() - config().vocab_size + next] = 1.0F;
      }
    }
    return logits_;
  }

  void hidden_state(std::size_t /*token*/, std::span<float> out) const noexcept override {
    std::ranges::fill(out, 2.0F);
  }

  const std::vector<TokenId>& script() const noexcept { return script_; }

 private:
  void go_on_behind(TokenId token) {
    if (!has_begun_) {
      has_begun_ = true;
      return;
    }
    if (token == close_ && script_[next_] != close_) {
      const auto found = std::ranges::find(script_, close_);
      next_ = static_cast<std::size_t>(found - script_.begin());
    }
    next_ = std::min(next_ + 1, script_.size() - 1);
  }

  std::vector<TokenId> script_;
  TokenId close_ = 0;
  bool has_begun_ = false;
  std::size_t next_ = 0;
  std::vector<float> logits_;
};

}  // namespace smol::chat
