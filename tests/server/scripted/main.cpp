// scripted_server PORT: the HTTP API over answers that are written down, a token each 5 ms. Tools
// and forms are obeyed as far as the tests of client libraries look.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "chat/assistant.h"
#include "chat/demo_chat.h"
#include "server/metrics.h"
#include "server/openai_api.h"
#include "server/request_log.h"
#include "server/router.h"
#include "server/server.h"

namespace smol::server {
namespace {

constexpr std::chrono::milliseconds kTokenTime{5};
constexpr std::size_t kManyTokens = 1000;

class ScriptedTurn : public chat::Turn {
 public:
  void cancel() noexcept override { cancelled = true; }

  void pause() noexcept override {}

  void resume() noexcept override {}

  void answer_now() noexcept override {}

  chat::TurnProgress progress() const noexcept override { return {}; }

  std::atomic<bool> cancelled{false};
};

// The words of an answer, as the form asks for it.
std::vector<std::string> words_of(const chat::TurnRequest& request) {
  if (std::holds_alternative<chat::JsonSchema>(request.answer.form)) {
    return {"{\"ok\":", " true", "}"};
  }
  std::vector<std::string> words{"Hello", " there", ",", " friend", "."};
  const std::size_t most = request.answer.max_tokens;
  while (most > kManyTokens && words.size() < most) {
    words.emplace_back(" again");
  }
  return words;
}

std::string cut_at_stops(const std::string& text, const std::vector<std::string>& stops) {
  std::size_t end = text.size();
  for (const std::string& stop : stops) {
    end = std::min(end, text.find(stop));
  }
  return text.substr(0, end);
}

class ScriptedAssistant : public chat::Assistant {
 public:
  ScriptedAssistant() {
    facts_.id = "scripted";
    facts_.architecture = "smollm3";
    facts_.context = 4096;
    facts_.vocab_size = chat::demo_chat().tokenizer.vocab_size();
    facts_.embedding_size = 2;
  }

  const chat::ModelFacts& model() const noexcept override { return facts_; }

  const chat::PromptBuilder& builder() const noexcept override { return chat::demo_chat().builder; }

  std::shared_ptr<chat::Turn> start(chat::TurnRequest request,
                                    std::shared_ptr<chat::TurnSink> sink) override {
    auto turn = std::make_shared<ScriptedTurn>();
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([this, turn, request = std::move(request), sink = std::move(sink)] {
      play(*turn, request, *sink);
    });
    return turn;
  }

  std::vector<float> embed(std::span<const TokenId> /*ids*/,
                           const std::stop_token& /*stop*/) override {
    return {0.6F, 0.8F};
  }

  std::size_t reusable(std::span<const TokenId> /*prompt*/) const override { return 0; }

  std::optional<std::size_t> save_cache(const std::filesystem::path& /*path*/,
                                        const engine::CacheWish& /*wish*/) override {
    return 0;
  }

  std::size_t restore_cache(const std::filesystem::path& /*path*/,
                            std::span<const engine::OwnedPrompt> /*prompts*/) override {
    return 0;
  }

  void forget(const std::string& /*owner*/) override {}

  chat::AssistantStats stats() const override {
    chat::AssistantStats stats;
    stats.cancelled = cancelled_;
    return stats;
  }

  ~ScriptedAssistant() override {
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  ScriptedAssistant(const ScriptedAssistant&) = delete;
  ScriptedAssistant& operator=(const ScriptedAssistant&) = delete;

 private:
  void play(const ScriptedTurn& turn, const chat::TurnRequest& request, chat::TurnSink& sink) {
    chat::TurnFinished finished;
    finished.usage.prompt_tokens = request.prompt.ids.size();
    if (std::holds_alternative<chat::ToolCallRequired>(request.answer.form)) {
      const Json& tool = request.options.tools.front();
      const Json& function = tool.contains("function") ? tool["function"] : tool;
      finished.message.tool_calls = {
          {"call_0001", function["name"].get<std::string>(), R"({"city": "Rome"})"}};
      sink.on_event(finished.message.tool_calls.front());
      finished.usage.generated_tokens = 1;
    } else {
      say(turn, request, sink, finished);
    }
    cancelled_ += finished.end == chat::TurnEnd::Cancelled ? 1 : 0;
    sink.on_finished(finished);
  }

  static void say(const ScriptedTurn& turn, const chat::TurnRequest& request, chat::TurnSink& sink,
                  chat::TurnFinished& finished) {
    std::string text;
    for (const std::string& word : words_of(request)) {
      std::this_thread::sleep_for(kTokenTime);
      if (turn.cancelled) {
        finished.end = chat::TurnEnd::Cancelled;
        return;
      }
      ++finished.usage.generated_tokens;
      const std::string so_far = cut_at_stops(text + word, request.answer.stop_strings);
      if (request.answer.top_logprobs) {
        sink.on_event(chat::TokenScore{
            word, -0.5,
            std::vector(*request.answer.top_logprobs, chat::TokenScore::Alternative{word, -0.5})});
      }
      if (so_far.size() > text.size()) {
        sink.on_event(chat::TextDelta{so_far.substr(text.size())});
      }
      if (so_far != text + word) {
        finished.end = chat::TurnEnd::StopString;
        return;
      }
      text += word;
    }
  }

  chat::ModelFacts facts_;
  std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::atomic<std::uint64_t> cancelled_{0};
};

int serve(std::uint16_t port) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ScriptedAssistant assistant;
  Metrics metrics;
  Router router{AccessRules{}};
  RequestLog log(nullptr);
  OpenAiApi api(metrics);
  api.add_routes(router);
  api.set_assistant(assistant);
  ServerOptions options;
  options.port = port;
  Server server(options, router, metrics, log);
  std::printf("http://127.0.0.1:%u\n", static_cast<unsigned>(server.port()));
  std::fflush(stdout);
  int signal = 0;
  sigwait(&signals, &signal);
  server.stop(std::chrono::milliseconds(0), std::chrono::milliseconds(1000));
  return 0;
}

}  // namespace
}  // namespace smol::server

int main(int argc, char** argv) {
  const int port = argc == 2 ? std::atoi(argv[1]) : 0;
  return smol::server::serve(static_cast<std::uint16_t>(port));
}
