#include "chat/chat_service.h"

#include <exception>
#include <future>
#include <string>
#include <utility>

#include "base/error.h"
#include "chat/running_turn.h"

namespace smol::chat {
namespace {

constexpr std::size_t kMostTopLogprobs = 20;

class EngineTurn final : public Turn {
 public:
  EngineTurn(std::shared_ptr<engine::Ticket> ticket, std::shared_ptr<RunningTurn> turn)
      : ticket_(std::move(ticket)), turn_(std::move(turn)) {}

  void cancel() noexcept override { ticket_->cancel(); }

  void pause() noexcept override { ticket_->pause(); }

  void resume() noexcept override { ticket_->resume(); }

  void answer_now() noexcept override { turn_->answer_now(); }

  TurnProgress progress() const noexcept override { return turn_->progress(ticket_->progress()); }

 private:
  std::shared_ptr<engine::Ticket> ticket_;
  std::shared_ptr<RunningTurn> turn_;
};

// Hands an embedding to the thread that waits for it.
class EmbeddingSink final : public engine::Sink {
 public:
  void on_progress(const engine::Progress& /*progress*/) noexcept override {}

  bool on_token(const engine::Token& /*token*/) noexcept override { return true; }

  void on_finished(const engine::Result& result) noexcept override {
    if (result.reason == engine::FinishReason::Cancelled) {
      on_failed(
          Error(ErrorCode::Exhausted, "embedding: expected to be finished, found it cancelled"));
    } else {
      embedding_.set_value(result.embedding);
    }
  }

  void on_failed(const Error& error) noexcept override {
    embedding_.set_exception(std::make_exception_ptr(error));
  }

  std::vector<float> wait() { return embedding_.get_future().get(); }

 private:
  std::promise<std::vector<float>> embedding_;
};

}  // namespace

ChatService::ChatService(const PromptBuilder& builder, engine::Engine& engine, ModelFacts facts)
    : builder_(builder),
      engine_(engine),
      facts_(std::move(facts)),
      tags_(builder.tokenizer()),
      forms_(builder.tokenizer(), facts_.vocab_size) {}

std::shared_ptr<Turn> ChatService::start(TurnRequest request, std::shared_ptr<TurnSink> sink) {
  const text::Tokenizer& tokenizer = builder_.tokenizer();
  const AnswerOptions& answer = request.answer;
  if (answer.top_logprobs > kMostTopLogprobs) {
    throw Error(ErrorCode::BadInput, "top_logprobs: expected at most " +
                                         std::to_string(kMostTopLogprobs) + ", found " +
                                         std::to_string(*answer.top_logprobs));
  }
  auto form = forms_.make(answer.form, request.options.tools);
  auto turn = std::make_shared<RunningTurn>(tokenizer, tags_, request, std::move(form),
                                            facts_.vocab_size, std::move(sink));
  engine::Request wanted;
  wanted.prompt = std::move(request.prompt.ids);
  wanted.sampling = answer.sampling;
  wanted.max_tokens = answer.max_tokens;
  wanted.ends_turn = [&tokenizer](TokenId id) { return tokenizer.ends_turn(id); };
  wanted.top_logprobs = answer.top_logprobs;
  wanted.constraint = turn;
  wanted.roll = answer.overflow == ContextOverflow::Roll;
  wanted.cache_prompt = answer.cache_prompt;
  wanted.client = std::move(request.client);
  auto ticket = engine_.submit(std::move(wanted), turn);
  return std::make_shared<EngineTurn>(std::move(ticket), std::move(turn));
}

std::vector<float> ChatService::embed(std::span<const TokenId> ids, const std::stop_token& stop) {
  engine::Request wanted;
  wanted.task = engine::Task::Embed;
  wanted.prompt.assign(ids.begin(), ids.end());
  const auto sink = std::make_shared<EmbeddingSink>();
  const auto ticket = engine_.submit(std::move(wanted), sink);
  const std::stop_callback cancel(stop, [&ticket] { ticket->cancel(); });
  return sink->wait();
}

std::size_t ChatService::reusable(std::span<const TokenId> prompt) const {
  return engine_.reusable(prompt);
}

AssistantStats ChatService::stats() const {
  const engine::EngineStats stats = engine_.stats();
  return {.running = stats.running,
          .waiting = stats.waiting,
          .paused = stats.paused,
          .waiting_max = engine_.max_waiting(),
          .kv_bytes = stats.kv_bytes,
          .kv_bytes_max = stats.kv_bytes_max,
          .cached_prefix_bytes = stats.kept_bytes,
          .prompt_tokens = stats.prompt_tokens,
          .cached_tokens = stats.cached_tokens,
          .generated_tokens = stats.generated_tokens,
          .computed_tokens = stats.computed_tokens,
          .drafted_tokens = stats.drafted_tokens,
          .accepted_tokens = stats.accepted_tokens,
          .finished = stats.finished,
          .cancelled = stats.cancelled,
          .failed = stats.failed,
          .prompt_tokens_per_second = stats.prompt_tokens_per_second,
          .generated_tokens_per_second = stats.generated_tokens_per_second};
}

}  // namespace smol::chat
