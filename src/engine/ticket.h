// The submitter's end of a request.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/bell.h"
#include "engine/request.h"

namespace smol::engine {

// Any thread. Each wish takes effect at the end of the step that runs, in every phase, and does
// nothing once the request has finished; a step that only serves cancelled requests, and paused
// ones whose prompts it reads, is given up. Dropping the ticket neither stops nor pauses it.
class Ticket {
 public:
  explicit Ticket(std::shared_ptr<Bell> bell) : bell_(std::move(bell)) {}

  void cancel() noexcept { wish(cancelled_, true); }

  // What was computed is kept, all but a step that was given up.
  void pause() noexcept { wish(paused_, true); }

  // Nothing is computed again.
  void resume() noexcept { wish(paused_, false); }

  Progress progress() const noexcept {
    const std::lock_guard lock(mutex_);
    return progress_;
  }

  // For the engine.
  bool wants_cancel() const noexcept { return cancelled_.load(std::memory_order_relaxed); }

  bool wants_pause() const noexcept { return paused_.load(std::memory_order_relaxed); }

  void set_progress(const Progress& progress) noexcept {
    const std::lock_guard lock(mutex_);
    progress_ = progress;
  }

 private:
  void wish(std::atomic<bool>& which, bool value) noexcept {
    which.store(value, std::memory_order_relaxed);
    bell_->ring();
  }

  std::shared_ptr<Bell> bell_;  // of the engine, which may end before the ticket
  std::atomic<bool> cancelled_{false}, paused_{false};
  mutable std::mutex mutex_;
  Progress progress_;
};

}  // namespace smol::engine
