// Requests and their answers, for tests of the engine.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"
#include "engine/fake_decoder.h"

namespace smol::engine {

// What a request told, whole once finished() is there.
class Collector final : public Sink {
 public:
  explicit Collector(std::size_t stop_after = 0) : stop_after_(stop_after) {}

  void on_progress(const Progress& progress) noexcept override {
    const std::lock_guard lock(mutex_);
    progress_.push_back(progress);
    changed_.notify_all();
  }

  bool on_token(const Token& token) noexcept override {
    tokens.push_back(token.id);
    forced.push_back(token.forced);
    if (token.scores != nullptr) {
      scores.push_back(*token.scores);
    }
    return tokens.size() != stop_after_;
  }

  void on_finished(const Result& result) noexcept override { end_.set_value(result); }

  void on_failed(const Error& error) noexcept override {
    end_.set_exception(std::make_exception_ptr(error));
  }

  // Waits. Throws what the request failed with.
  const Result& finished() {
    if (!result_) {
      result_ = end_.get_future().get();
    }
    return *result_;
  }

  void wait_for(Phase phase) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !progress_.empty() && progress_.back().phase == phase; });
  }

  std::vector<Progress> progress() const {
    const std::lock_guard lock(mutex_);
    return progress_;
  }

  // To be read once it has finished.
  std::vector<TokenId> tokens;
  std::vector<bool> forced;
  std::vector<TokenScores> scores;

 private:
  std::size_t stop_after_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Progress> progress_;
  std::promise<Result> end_;
  std::optional<Result> result_;
};

// Room for several requests at once.
inline constexpr FakeSpec kLarge{.context = 512, .n_slots = 8, .max_batch = 64};

struct Submitted {
  std::shared_ptr<Collector> sink;
  std::shared_ptr<Ticket> ticket;

  const Result& finished() const { return sink->finished(); }

  const std::vector<TokenId>& tokens() const {
    sink->finished();
    return sink->tokens;
  }
};

inline Submitted submit(Engine& engine, Request request, std::size_t stop_after = 0) {
  auto sink = std::make_shared<Collector>(stop_after);
  auto ticket = engine.submit(std::move(request), sink);
  return {std::move(sink), std::move(ticket)};
}

inline Request request_of(std::vector<TokenId> prompt, std::size_t max_tokens = 10,
                          std::uint64_t seed = 3) {
  Request request;
  request.prompt = std::move(prompt);
  request.max_tokens = max_tokens;
  request.sampling.seed = seed;
  return request;
}

// Ids below 50 that look random; another `kind`, other ids.
inline std::vector<TokenId> numbers(std::size_t count, std::size_t kind = 0) {
  std::vector<TokenId> out;
  std::size_t state = kind * 7919 + 17;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1103515245 + 12345;
    out.push_back(static_cast<TokenId>((state >> 16U) % 50));
  }
  return out;
}

// The answer by definition: one sequence, token by token, nothing kept.
inline std::vector<TokenId> plain_answer(const FakeSpec& spec, const Request& request) {
  FakeDecoder decoder({.vocab_size = spec.vocab_size,
                       .context = spec.context,
                       .max_batch = spec.max_batch,
                       .memory = spec.memory});
  Sampler sampler(request.sampling, spec.vocab_size);
  std::vector<TokenId> history;
  std::span<const float> logits;
  const auto feed = [&](TokenId token) {
    const model::BatchToken one{token, decoder.n_tokens(0), 0, true};
    logits = decoder.forward({&one, 1});
    history.push_back(token);
  };
  for (const TokenId token : request.prompt) {
    feed(token);
  }
  std::vector<TokenId> answer;
  while (request.max_tokens == 0 || answer.size() < request.max_tokens) {
    answer.push_back(sampler.pick(logits, history));
    if (history.size() == spec.context) {
      break;
    }
    feed(answer.back());
  }
  return answer;
}

// Holds the engine before each step until it is let through.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++n_waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return n_allowed_ > 0; });
    --n_allowed_;
    --n_waiting_;
  }

  void allow(std::size_t n_steps) {
    const std::lock_guard lock(mutex_);
    n_allowed_ += n_steps;
    changed_.notify_all();
  }

  void open() { allow(1U << 30U); }

  // Waits until the engine stands before a step.
  void wait_for_step() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return n_waiting_ > 0 && n_allowed_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t n_allowed_ = 0, n_waiting_ = 0;
};

}  // namespace smol::engine
