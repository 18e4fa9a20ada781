// An assistant whose turns say what a test wrote down; tokenizer and template are the demo model's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "chat/assistant.h"
#include "chat/demo_chat.h"

namespace smol::server {

class FakeTurn : public chat::Turn {
 public:
  explicit FakeTurn(std::shared_ptr<chat::TurnSink> sink) : sink_(std::move(sink)) {}

  void say(const std::string& text) { tell(chat::TextDelta{text}); }

  void tell(const chat::AnswerEvent& event) {
    if (const auto sink = held()) {
      sink->on_event(event);
    }
  }

  void finish(const chat::TurnFinished& finished) {
    if (const auto sink = release()) {
      sink->on_finished(finished);
    }
  }

  void fail(const Error& error) {
    if (const auto sink = release()) {
      sink->on_failed(error);
    }
  }

  void cancel() noexcept override {
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
    }
    chat::TurnFinished finished;
    finished.end = chat::TurnEnd::Cancelled;
    finish(finished);
  }

  void pause() noexcept override {}

  void resume() noexcept override {}

  void answer_now() noexcept override {}

  chat::TurnProgress progress() const noexcept override { return {}; }

  // It will never end.
  void forget() { release(); }

  bool cancelled() const {
    const std::lock_guard lock(mutex_);
    return cancelled_;
  }

 private:
  std::shared_ptr<chat::TurnSink> held() const {
    const std::lock_guard lock(mutex_);
    return sink_;
  }

  std::shared_ptr<chat::TurnSink> release() {
    const std::lock_guard lock(mutex_);
    return std::exchange(sink_, nullptr);
  }

  mutable std::mutex mutex_;
  std::shared_ptr<chat::TurnSink> sink_;  // until the turn has ended
  bool cancelled_ = false;
};

class FakeAssistant : public chat::Assistant {
 public:
  FakeAssistant() {
    facts_.id = "demo";
    facts_.architecture = "smollm3";
    facts_.context = 512;
    facts_.vocab_size = chat::demo_chat().tokenizer.vocab_size();
    facts_.embedding_size = 2;
    finished.usage.prompt_tokens = 10;
    finished.usage.generated_tokens = 3;
  }

  ~FakeAssistant() override {
    std::ranges::for_each(turns_, [](const auto& turn) { turn->forget(); });
  }

  FakeAssistant(const FakeAssistant&) = delete;
  FakeAssistant& operator=(const FakeAssistant&) = delete;
  FakeAssistant(FakeAssistant&&) = delete;
  FakeAssistant& operator=(FakeAssistant&&) = delete;

  // The demo model has nothing to say unasked: no titles.
  void be_the_demo() { facts_.is_demo = true; }

  // What every turn says, at once unless `hold` is set: then the test drives turns().
  std::vector<chat::AnswerEvent> events{chat::TextDelta{"Hello"}, chat::TextDelta{" you"}};
  chat::TurnFinished finished;
  bool hold = false;
  std::optional<Error> refusal;  // what start() throws
  std::size_t refused_from = 0;  // the first turn that is refused
  chat::AssistantStats stats_to_give;
  std::size_t reusable_to_give = 0;  // tokens, of any prompt

  const chat::ModelFacts& model() const noexcept override { return facts_; }

  const chat::PromptBuilder& builder() const noexcept override { return chat::demo_chat().builder; }

  std::shared_ptr<chat::Turn> start(chat::TurnRequest request,
                                    std::shared_ptr<chat::TurnSink> sink) override {
    auto turn = std::make_shared<FakeTurn>(sink);
    {
      const std::lock_guard lock(mutex_);
      if (refusal && turns_.size() >= refused_from) {
        throw Error(*refusal);
      }
      requests_.push_back(std::move(request));
      turns_.push_back(turn);
    }
    if (!hold) {
      std::ranges::for_each(events, [&](const auto& event) { sink->on_event(event); });
      turn->finish(finished);
    }
    return turn;
  }

  std::vector<float> embed(std::span<const TokenId> ids, const std::stop_token& /*stop*/) override {
    return {static_cast<float>(ids.size()), 0.5F};
  }

  std::size_t reusable(std::span<const TokenId> prompt) const override {
    return std::min(prompt.size(), reusable_to_give);
  }

  chat::AssistantStats stats() const override { return stats_to_give; }

  // The file holds the owners' names, one a line; what is restored or forgotten is listed.
  std::optional<std::size_t> save_cache(const std::filesystem::path& path,
                                        const engine::CacheWish& wish) override {
    if (!wish.goes_on()) {
      return std::nullopt;
    }
    std::ofstream file(path);
    for (const engine::OwnedPrompt& prompt : wish.prompts) {
      file << prompt.owner << "\n";
    }
    return wish.prompts.size();
  }

  std::size_t restore_cache(const std::filesystem::path& /*path*/,
                            std::span<const engine::OwnedPrompt> prompts) override {
    restored.assign(prompts.begin(), prompts.end());
    return prompts.size();
  }

  void forget(const std::string& owner) override { forgotten.push_back(owner); }

  std::vector<engine::OwnedPrompt> restored;  // by the latest restore_cache()
  std::vector<std::string> forgotten;

  std::vector<std::shared_ptr<FakeTurn>> turns() const {
    const std::lock_guard lock(mutex_);
    return turns_;
  }

  std::vector<chat::TurnRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  chat::ModelFacts facts_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<FakeTurn>> turns_;
  std::vector<chat::TurnRequest> requests_;
};

}  // namespace smol::server
