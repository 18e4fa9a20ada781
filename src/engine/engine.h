// Many requests side by side on one model. Owns the thread that computes; it sleeps while there is
// nothing to do.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/ids.h"
#include "engine/bell.h"
#include "engine/engine_options.h"
#include "engine/request.h"
#include "engine/scheduler.h"
#include "engine/ticket.h"
#include "model/decoder.h"

namespace smol::engine {

// Any thread, but none of the members from inside a Sink.
class Engine {
 public:
  // The decoder must outlive it, and nobody else may use it. Slots beyond max_running hold paused
  // sequences and what was read before. The key/value cache has room for one whole context.
  Engine(model::Decoder& decoder, const EngineOptions& options);
  // Requests that have not finished end as cancelled.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  Engine(Engine&&) = delete;
  Engine& operator=(Engine&&) = delete;

  // Throws Error{BadInput}: an empty prompt, an id outside the vocabulary, a bad setting, or a
  // prompt longer than the context (with both counts); Error{Exhausted} when as many wait as may.
  // After that all news go to the sink.
  std::shared_ptr<Ticket> submit(Request request, std::shared_ptr<Sink> sink);

  // Tokens of `prompt` that a request now would not compute again. Waits for the step that runs.
  std::size_t reusable(std::span<const TokenId> prompt) const;

  EngineStats stats() const;

  std::size_t context() const noexcept { return limits_.context; }

  std::size_t max_waiting() const noexcept { return options_.max_waiting; }

  // What is kept of `prompts` for later ones, or of all where there are none, is written to a file;
  // an earlier one is replaced. Returns the number of tokens. The engine goes on meanwhile. Throws
  // Error{Io}.
  std::size_t save_cache(const std::filesystem::path& path,
                         std::span<const std::vector<TokenId>> prompts = {});

  // What save_cache() wrote is kept again, as far as there is room. Returns the number of tokens.
  // Throws Error{NotFound} without such a file, Error{BadInput} for one that is not whole or of
  // another model or setting; then nothing is kept of it.
  std::size_t restore_cache(const std::filesystem::path& path);

 private:
  void work();
  bool take_news();
  // Runs `what` on the engine's thread between two steps and waits for it.
  void call(const std::function<void()>& what) const;

  EngineOptions options_;
  model::Decoder& decoder_;
  std::shared_ptr<Bell> bell_;
  Scheduler scheduler_;  // of the engine's thread once it runs
  Sequence::Limits limits_;

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Sequence>> arrivals_;
  mutable std::vector<std::function<void()>> calls_;
  EngineStats stats_;
  bool ends_ = false;

  std::thread thread_;
};

}  // namespace smol::engine
