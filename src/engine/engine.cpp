#include "engine/engine.h"

#include <exception>
#include <future>
#include <string>
#include <utility>

#include "base/error.h"
#include "engine/cache_file.h"

namespace smol::engine {

Engine::Engine(model::Decoder& decoder, const EngineOptions& options)
    : options_(options),
      decoder_(decoder),
      bell_(std::make_shared<Bell>()),
      scheduler_(decoder, options,
                 [this](const EngineStats& stats) {
                   const std::lock_guard lock(mutex_);
                   stats_ = stats;
                 }),
      limits_(scheduler_.limits()),
      thread_([this] { work(); }) {}

Engine::~Engine() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  bell_->ring();
  thread_.join();
}

std::shared_ptr<Ticket> Engine::submit(Request request, std::shared_ptr<Sink> sink) {
  Sequence::check(request, limits_);
  auto ticket = std::make_shared<Ticket>(bell_);
  auto sequence = std::make_unique<Sequence>(std::move(request), std::move(sink), ticket, limits_);
  {
    const std::lock_guard lock(mutex_);
    const std::size_t n_waiting = stats_.waiting + arrivals_.size();
    if (n_waiting >= options_.max_waiting) {
      throw Error(ErrorCode::Exhausted, "queue: expected at most " +
                                            std::to_string(options_.max_waiting) +
                                            " waiting requests, found as many");
    }
    arrivals_.push_back(std::move(sequence));
  }
  bell_->ring();
  return ticket;
}

std::size_t Engine::reusable(std::span<const TokenId> prompt) const {
  std::size_t n_tokens = 0;
  call([&] { n_tokens = scheduler_.space().reusable(prompt); });
  return n_tokens;
}

EngineStats Engine::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

std::optional<std::size_t> Engine::save_cache(const std::filesystem::path& path,
                                              const CacheWish& wish) {
  const CacheFile file(decoder_, options_.model_fingerprint);
  return file.save(path, wish, scheduler_.space(),
                   [this](const std::function<void()>& what) { call(what); });
}

std::size_t Engine::restore_cache(const std::filesystem::path& path) {
  const CacheFile file(decoder_, options_.model_fingerprint);
  return file.restore(path, std::nullopt, scheduler_.space(),
                      [this](const std::function<void()>& what) { call(what); });
}

std::size_t Engine::restore_cache(const std::filesystem::path& path,
                                  std::span<const OwnedPrompt> prompts) {
  const CacheFile file(decoder_, options_.model_fingerprint);
  return file.restore(path, prompts, scheduler_.space(),
                      [this](const std::function<void()>& what) { call(what); });
}

void Engine::forget(const std::string& owner) {
  call([&] { scheduler_.space().forget(owner); });
}

void Engine::call(const std::function<void()>& what) const {
  std::packaged_task<void()> task(what);
  std::future<void> done = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    calls_.emplace_back([&task] { task(); });
  }
  bell_->ring();
  done.get();
}

void Engine::work() {
  while (take_news()) {
    const std::optional<Bell::Clock::time_point> again = scheduler_.step();
    if (!again || *again > Bell::Clock::now()) {
      bell_->wait(again);
    }
  }
  scheduler_.cancel_all();
}

// False: the engine ends.
bool Engine::take_news() {
  std::vector<std::unique_ptr<Sequence>> arrivals;
  std::vector<std::function<void()>> calls;
  bool ends = false;
  {
    const std::lock_guard lock(mutex_);
    arrivals = std::exchange(arrivals_, {});
    calls = std::exchange(calls_, {});
    stats_.waiting += arrivals.size();  // until the scheduler has counted them
    ends = ends_;
  }
  for (auto& sequence : arrivals) {
    scheduler_.add(std::move(sequence));
  }
  for (const auto& what : calls) {
    what();
  }
  return !ends;
}

}  // namespace smol::engine
