// Ctrl-C as a request: while a guard lives, SIGINT (or other signals) makes a descriptor readable
// in place of ending the program.
#pragma once

#include <csignal>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace smol::app {

// One at a time; it brings back the earlier dispositions.
class InterruptGuard {
 public:
  // A SIGHUP that the caller of the program had ignored (nohup) stays so. Throws Error{Io} if the
  // system gives no descriptor.
  explicit InterruptGuard(const std::vector<int>& signals = {SIGINT});
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // Readable (poll) from the signal until take().
  int descriptor() const noexcept { return descriptor_; }

  // Whether a signal came since the last call.
  bool take() const noexcept;
  // Waits for a signal.
  void wait() const noexcept;

 private:
  int descriptor_;
  std::vector<std::pair<int, struct sigaction>> before_;
};

// Requests a stop when the signal comes, for as long as it lives. The guard must outlive it.
class StopOnInterrupt {
 public:
  explicit StopOnInterrupt(const InterruptGuard& guard);
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;

  std::stop_token token() const noexcept { return source_.get_token(); }

 private:
  std::stop_source source_;
  int ended_;
  std::thread watcher_;
};

}  // namespace smol::app
