#include "engine/generator.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "base/error.h"
#include "engine/chunk_size.h"

namespace smol::engine {
namespace {

using Clock = std::chrono::steady_clock;

// Adds the time it lives to `total`, when an exception ends it too.
class Stopwatch {
 public:
  explicit Stopwatch(std::chrono::nanoseconds& total) : total_(total), start_(Clock::now()) {}

  ~Stopwatch() { total_ += Clock::now() - start_; }

  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::chrono::nanoseconds& total_;
  Clock::time_point start_;
};

}  // namespace

std::string_view name_of(FinishReason reason) noexcept {
  switch (reason) {
    case FinishReason::EndOfTurn:
      return "end_of_turn";
    case FinishReason::StopString:
      return "stop_string";
    case FinishReason::MaxTokens:
      return "max_tokens";
    case FinishReason::ContextFull:
      return "context_full";
    case FinishReason::Cancelled:
      return "cancelled";
  }
  return "";
}

Generator::Generator(model::Decoder& decoder, SlotId slot) : decoder_(decoder), slot_(slot) {
  SMOL_CHECK(slot < decoder.options().n_slots);
  clear();
}

void Generator::clear() noexcept {
  decoder_.truncate(slot_, 0);
  cached_.clear();
}

std::size_t Generator::reusable(std::span<const TokenId> prompt) const noexcept {
  if (prompt.empty()) {
    return 0;
  }
  // The last token of the prompt is always computed: its logits are needed.
  const auto compared = prompt.first(prompt.size() - 1);
  const auto [in_prompt, in_cache] = std::ranges::mismatch(compared, cached_);
  return static_cast<std::size_t>(in_prompt - compared.begin());
}

GenerationResult Generator::generate(const GenerationRequest& request, const TokenSink& on_token,
                                     const ProgressSink& on_progress) {
  check(request);
  Sampler sampler(request.sampling, decoder_.config().vocab_size);
  GenerationResult result;
  result.seed = sampler.seed();
  result.prompt_tokens = request.prompt.size();
  const std::span<const float> logits = prefill(request, result, on_progress);
  if (logits.empty()) {
    result.reason = FinishReason::Cancelled;
    return result;
  }
  decode(request, logits, sampler, on_token, result);
  return result;
}

void Generator::check(const GenerationRequest& request) const {
  if (request.prompt.empty()) {
    throw Error(ErrorCode::BadInput, "prompt: expected at least one token, found none");
  }
  if (request.prompt.size() > context()) {
    throw Error(ErrorCode::BadInput, "prompt: expected at most " + std::to_string(context()) +
                                         " tokens (the context), found " +
                                         std::to_string(request.prompt.size()));
  }
  const std::size_t vocab_size = decoder_.config().vocab_size;
  for (const TokenId id : request.prompt) {
    if (id < 0 || static_cast<std::size_t>(id) >= vocab_size) {
      throw Error(ErrorCode::BadInput, "prompt: expected token ids below " +
                                           std::to_string(vocab_size) + ", found " +
                                           std::to_string(id));
    }
  }
}

std::span<const float> Generator::step(std::span<const TokenId> tokens) {
  batch_.clear();
  auto position = static_cast<std::uint32_t>(cached_.size());
  for (const TokenId token : tokens) {
    batch_.push_back({token, position++, slot_, false});
  }
  batch_.back().wants_logits = true;

  // Only what forward() has finished counts as held: after an exception both are cut back to that.
  struct Undo {
    Generator& generator;
    bool armed = true;

    explicit Undo(Generator& owner) : generator(owner) {}

    Undo(const Undo&) = delete;
    Undo& operator=(const Undo&) = delete;

    ~Undo() {
      if (armed) {
        generator.decoder_.truncate(generator.slot_,
                                    static_cast<std::uint32_t>(generator.cached_.size()));
      }
    }
  } undo{*this};

  const std::span<const float> logits = decoder_.forward(batch_);
  undo.armed = false;
  cached_.insert(cached_.end(), tokens.begin(), tokens.end());
  return logits;
}

std::span<const float> Generator::prefill(const GenerationRequest& request,
                                          GenerationResult& result,
                                          const ProgressSink& on_progress) {
  const Stopwatch stopwatch(result.prefill_time);
  const std::span<const TokenId> prompt = request.prompt;
  const std::size_t cached = reusable(prompt);
  result.cached_tokens = cached;
  decoder_.truncate(slot_, static_cast<std::uint32_t>(cached));
  cached_.resize(cached);

  ChunkSize chunk(request.prefill_chunk, decoder_.options().max_batch);
  std::span<const float> logits;
  for (std::size_t done = cached; done < prompt.size();) {
    if (request.stop.stop_requested()) {
      return {};
    }
    if (on_progress) {
      on_progress({done, prompt.size(), cached});
    }
    const std::size_t size = std::min(chunk.size(), prompt.size() - done);
    const auto start = Clock::now();
    logits = step(prompt.subspan(done, size));
    chunk.took(size, Clock::now() - start);
    done += size;
  }
  if (on_progress) {
    on_progress({prompt.size(), prompt.size(), cached});
  }
  return logits;
}

void Generator::decode(const GenerationRequest& request, std::span<const float> logits,
                       Sampler& sampler, const TokenSink& on_token, GenerationResult& result) {
  const Stopwatch stopwatch(result.decode_time);
  std::vector<TokenId> history = request.prompt;
  while (true) {
    if (request.stop.stop_requested()) {
      result.reason = FinishReason::Cancelled;
      return;
    }
    const TokenId token = sampler.pick(logits, history);
    if (request.ends_turn && request.ends_turn(token)) {
      result.reason = FinishReason::EndOfTurn;
      return;
    }
    ++result.generated_tokens;
    history.push_back(token);
    if (!on_token(token)) {
      result.reason = FinishReason::StopString;
      return;
    }
    if (request.max_tokens != 0 && result.generated_tokens >= request.max_tokens) {
      result.reason = FinishReason::MaxTokens;
      return;
    }
    if (cached_.size() >= context()) {
      result.reason = FinishReason::ContextFull;
      return;
    }
    logits = step({&token, 1});
  }
}

}  // namespace smol::engine
