#include "app/assistant_factory.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "app/open_model.h"
#include "base/error.h"

namespace smol::app {

namespace {

class SerialTurn : public chat::Turn {
 public:
  SerialTurn(chat::TurnRequest asked_for, std::shared_ptr<chat::TurnSink> listener)
      : request(std::move(asked_for)), sink(std::move(listener)) {}

  void cancel() noexcept override { stop.request_stop(); }

  void pause() noexcept override {}

  void resume() noexcept override {}

  void answer_now() noexcept override {}

  chat::TurnProgress progress() const noexcept override { return {}; }

  const chat::TurnRequest request;
  const std::shared_ptr<chat::TurnSink> sink;
  const std::chrono::steady_clock::time_point asked = std::chrono::steady_clock::now();
  std::stop_source stop;
};

chat::TurnEnd end_of(engine::FinishReason reason) {
  switch (reason) {
    case engine::FinishReason::EndOfTurn:
      return chat::TurnEnd::EndOfTurn;
    case engine::FinishReason::StopString:
      return chat::TurnEnd::StopString;
    case engine::FinishReason::MaxTokens:
      return chat::TurnEnd::MaxTokens;
    case engine::FinishReason::ContextFull:
      return chat::TurnEnd::ContextFull;
    case engine::FinishReason::Cancelled:
      break;
  }
  return chat::TurnEnd::Cancelled;
}

// One turn after the other, in the order they came.
class SerialAssistant : public chat::Assistant {
 public:
  SerialAssistant(const std::filesystem::path& path, const AssistantOptions& options)
      : model_(path, options.model), most_waiting_(options.queue) {
    const model::ModelConfig& config = model_.assistant.runtime.weights.config();
    facts_.id = path.stem().string();
    facts_.architecture = config.architecture;
    facts_.context = model_.assistant.generator.context();
    facts_.vocab_size = config.vocab_size;
    facts_.embedding_size = config.d_model;
    facts_.file_bytes = model_.assistant.runtime.file.size_bytes();
    thread_ = std::thread([this] { run(); });
  }

  ~SerialAssistant() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      if (running_) {
        running_->cancel();
      }
    }
    changed_.notify_all();
    thread_.join();
  }

  SerialAssistant(const SerialAssistant&) = delete;
  SerialAssistant& operator=(const SerialAssistant&) = delete;

  const chat::ModelFacts& model() const noexcept override { return facts_; }

  const chat::PromptBuilder& builder() const noexcept override { return model_.builder; }

  std::shared_ptr<chat::Turn> start(chat::TurnRequest request,
                                    std::shared_ptr<chat::TurnSink> sink) override {
    check(request);
    auto turn = std::make_shared<SerialTurn>(std::move(request), std::move(sink));
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= most_waiting_) {
      throw Error{
          ErrorCode::Exhausted,
          fmt::format("queue: expected fewer than {} waiting turns, found as many", most_waiting_)};
    }
    waiting_.push_back(turn);
    changed_.notify_all();
    return turn;
  }

  std::vector<float> embed(std::span<const TokenId> /*ids*/) override {
    throw Error{ErrorCode::Unsupported, "input: expected an engine that embeds, found none"};
  }

  std::size_t reusable(std::span<const TokenId> prompt) const override {
    static_cast<void>(prompt);
    return 0;
  }

  chat::AssistantStats stats() const override {
    const std::lock_guard lock(mutex_);
    chat::AssistantStats stats = stats_;
    stats.running = running_ ? 1 : 0;
    stats.waiting = waiting_.size();
    return stats;
  }

 private:
  void check(const chat::TurnRequest& request) const;
  void run();
  void answer(SerialTurn& turn);

  Conversationalist model_;
  chat::ModelFacts facts_;
  const std::size_t most_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<SerialTurn>> waiting_;
  std::shared_ptr<SerialTurn> running_;
  chat::AssistantStats stats_;
  bool stopping_ = false;
  std::thread thread_;
};

void SerialAssistant::check(const chat::TurnRequest& request) const {
  engine::validate(request.answer.sampling, facts_.vocab_size);
  if (request.prompt.ids.size() >= facts_.context) {
    throw Error{ErrorCode::BadInput,
                fmt::format("prompt: expected fewer than {} tokens (the context), found {}",
                            facts_.context, request.prompt.ids.size())};
  }
  if (request.answer.form.index() != 0 || request.answer.top_logprobs) {
    throw Error{ErrorCode::Unsupported,
                "answer: expected neither a form nor logprobs, found one of them"};
  }
}

void SerialAssistant::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) {
      return;
    }
    running_ = std::move(waiting_.front());
    waiting_.pop_front();
    const auto turn = running_;
    lock.unlock();
    try {
      answer(*turn);
    } catch (const Error& error) {
      turn->sink->on_failed(error);
    } catch (const std::exception& error) {
      turn->sink->on_failed(Error{ErrorCode::Device, error.what()});
    }
    lock.lock();
    running_ = nullptr;
  }
}

void SerialAssistant::answer(SerialTurn& turn) {
  const auto begin = std::chrono::steady_clock::now();
  chat::TurnOptions options;
  options.prompt = turn.request.options;
  options.sampling = turn.request.answer.sampling;
  options.max_tokens = turn.request.answer.max_tokens;
  options.stop_strings = turn.request.answer.stop_strings;
  const auto on_event = [&turn](const chat::TurnEvent& event) {
    std::visit(
        [&turn](const auto& one) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(one)>, chat::Finished>) {
            turn.sink->on_event(one);
          }
        },
        event);
  };
  chat::TurnResult result =
      model_.service.reply_to(turn.request.prompt, options, on_event, turn.stop.get_token());
  const engine::GenerationResult& generation = result.finished.generation;
  chat::TurnFinished finished;
  finished.end = end_of(generation.reason);
  finished.usage = {.prompt_tokens = generation.prompt_tokens,
                    .cached_tokens = generation.cached_tokens,
                    .generated_tokens = generation.generated_tokens,
                    .reasoning_tokens = result.finished.reasoning_tokens,
                    .queue_time = begin - turn.asked,
                    .prefill_time = generation.prefill_time,
                    .decode_time = generation.decode_time};
  finished.seed = generation.seed;
  finished.cut_while_thinking = result.finished.cut_while_thinking;
  finished.message = std::move(result.message);
  {
    const std::lock_guard lock(mutex_);
    stats_.prompt_tokens += generation.prompt_tokens;
    stats_.cached_tokens += generation.cached_tokens;
    stats_.generated_tokens += generation.generated_tokens;
    ++(finished.end == chat::TurnEnd::Cancelled ? stats_.cancelled : stats_.finished);
  }
  turn.sink->on_finished(finished);
}

}  // namespace

std::unique_ptr<chat::Assistant> make_assistant(const std::filesystem::path& path,
                                                const AssistantOptions& options) {
  return std::make_unique<SerialAssistant>(path, options);
}

}  // namespace smol::app
