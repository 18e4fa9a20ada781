#include "app/interrupt.h"

#include <csignal>
#include <thread>

#include <gtest/gtest.h>

namespace smol::app {
namespace {

TEST(InterruptGuard, TakesTheSignalOnce) {
  const InterruptGuard guard;
  EXPECT_FALSE(guard.take());
  std::raise(SIGINT);
  EXPECT_TRUE(guard.take());
  EXPECT_FALSE(guard.take());
}

TEST(InterruptGuard, WatchesTheSignalsItIsGiven) {
  const InterruptGuard guard{{SIGINT, SIGTERM}};
  std::raise(SIGTERM);
  guard.wait();
  EXPECT_TRUE(guard.take());
}

TEST(StopOnInterrupt, RequestsAStopOnTheSignal) {
  const InterruptGuard guard;
  const StopOnInterrupt stop{guard};
  EXPECT_FALSE(stop.token().stop_requested());
  std::raise(SIGINT);
  while (!stop.token().stop_requested()) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(guard.take());
}

TEST(StopOnInterrupt, EndsWithoutASignal) {
  const InterruptGuard guard;
  { const StopOnInterrupt stop{guard}; }
  EXPECT_FALSE(guard.take());
}

TEST(InterruptGuard, BringsBackTheEarlierDisposition) {
  { const InterruptGuard guard; }

  struct sigaction now {};

  sigaction(SIGINT, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

}  // namespace
}  // namespace smol::app
