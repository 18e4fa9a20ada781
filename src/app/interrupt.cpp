#include "app/interrupt.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"

namespace smol::app {

namespace {

// Constant initialization: no guard variable, so that a handler may touch it.
std::atomic<int>& signalled_descriptor() noexcept {
  static std::atomic<int> descriptor{-1};
  static_assert(std::atomic<int>::is_always_lock_free);
  return descriptor;
}

void announce(int descriptor) noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(descriptor, &one, sizeof(one)));
}

void on_interrupt(int /*signal*/) {
  const int before = errno;
  announce(signalled_descriptor().load());
  errno = before;
}

int new_event() {
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) {
    throw Error{ErrorCode::Io,
                std::string("eventfd: expected a descriptor, found: ") + std::strerror(errno)};
  }
  return descriptor;
}

bool is_ignored(int signal) noexcept {
  struct sigaction now {};

  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

void watch(int interrupt, int ended, const std::stop_source& source) {
  std::array<pollfd, 2> events{pollfd{interrupt, POLLIN, 0}, pollfd{ended, POLLIN, 0}};
  while (::poll(events.data(), events.size(), -1) < 0 && errno == EINTR) {
  }
  if ((events[0].revents & POLLIN) != 0) {
    source.request_stop();
  }
}

}  // namespace

InterruptGuard::InterruptGuard(const std::vector<int>& signals) : descriptor_(new_event()) {
  signalled_descriptor().store(descriptor_);

  struct sigaction action {};

  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : signals) {
    if (signal == SIGHUP && is_ignored(signal)) {
      continue;
    }
    before_.emplace_back(signal, action);
    sigaction(signal, &action, &before_.back().second);
  }
}

InterruptGuard::~InterruptGuard() {
  for (const auto& [signal, before] : before_) {
    sigaction(signal, &before, nullptr);
  }
  signalled_descriptor().store(-1);
  ::close(descriptor_);
}

bool InterruptGuard::take() const noexcept {
  std::uint64_t count = 0;
  return ::read(descriptor_, &count, sizeof(count)) > 0;
}

void InterruptGuard::wait() const noexcept {
  pollfd event{descriptor_, POLLIN, 0};
  while (::poll(&event, 1, -1) < 0 && errno == EINTR) {
  }
}

// A handler may not request a stop (that takes a lock), hence the thread.
StopOnInterrupt::StopOnInterrupt(const InterruptGuard& guard)
    : ended_(new_event()), watcher_(watch, guard.descriptor(), ended_, source_) {}

StopOnInterrupt::~StopOnInterrupt() {
  announce(ended_);
  watcher_.join();
  ::close(ended_);
}

}  // namespace smol::app
