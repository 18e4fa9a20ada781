// Prompt tokens -> answer tokens, one sequence in one slot. What the slot already holds is reused
// as far as the prompt begins with it; the answer has the same bits with and without.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "engine/sampler.h"
#include "model/decoder.h"

namespace smol::engine {

enum class FinishReason {
  EndOfTurn,    // the model ended its turn
  StopString,   // the sink ended it: a stop string was met
  MaxTokens,    // max_tokens were generated
  ContextFull,  // the context holds no further token
  Cancelled     // a stop was requested through the stop token
};

// "end_of_turn", "stop_string", "max_tokens", "context_full", "cancelled".
std::string_view name_of(FinishReason reason) noexcept;

struct GenerationRequest {
  std::vector<TokenId> prompt;  // at least one
  SamplingSettings sampling;
  std::size_t max_tokens = 0;              // 0: as many as the context holds
  std::function<bool(TokenId)> ends_turn;  // none: no token does
  std::size_t prefill_chunk = 0;  // tokens a step; 0: chosen so that a step takes about 0.2 s
  std::stop_token stop;           // looked at before every step, in the prompt too
};

struct PrefillProgress {
  std::size_t done;    // tokens of the prompt in the slot
  std::size_t total;   // tokens of the prompt
  std::size_t cached;  // of `done`, those that were there already
};

struct GenerationResult {
  FinishReason reason = FinishReason::EndOfTurn;
  std::size_t prompt_tokens = 0;
  std::size_t cached_tokens = 0;     // of these, reused from the slot
  std::size_t generated_tokens = 0;  // the token that ended the turn is not counted
  std::chrono::nanoseconds prefill_time{0};
  std::chrono::nanoseconds decode_time{0};
  std::uint64_t seed = 0;  // the one used
};

// One thread at a time. The decoder must outlive it; nobody else may use the slot.
class Generator {
 public:
  // Each token of the answer, the one that ends the turn excepted. Returns false to end the answer.
  using TokenSink = std::function<bool(TokenId)>;
  using ProgressSink = std::function<void(const PrefillProgress&)>;

  explicit Generator(model::Decoder& decoder, SlotId slot = 0);

  // Throws Error{BadInput}: an empty prompt, an id outside the vocabulary, a bad setting, or a
  // prompt longer than the context (with both counts). Whatever is thrown, by a sink too, the slot
  // stays usable.
  GenerationResult generate(const GenerationRequest& request, const TokenSink& on_token,
                            const ProgressSink& on_progress = {});

  // What the slot holds.
  std::span<const TokenId> cached() const noexcept { return cached_; }

  // Tokens of `prompt` that would not be computed again.
  std::size_t reusable(std::span<const TokenId> prompt) const noexcept;
  void clear() noexcept;

  std::size_t context() const noexcept { return decoder_.options().context; }

 private:
  std::span<const float> step(std::span<const TokenId> tokens);
  std::span<const float> prefill(const GenerationRequest& request, GenerationResult& result,
                                 const ProgressSink& on_progress);
  void decode(const GenerationRequest& request, std::span<const float> logits, Sampler& sampler,
              const TokenSink& on_token, GenerationResult& result);
  void check(const GenerationRequest& request) const;

  model::Decoder& decoder_;
  SlotId slot_;
  std::vector<TokenId> cached_;
  std::vector<model::BatchToken> batch_;
};

}  // namespace smol::engine
