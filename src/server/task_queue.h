// One thread that does jobs in turn, for work that waits long: handlers' threads stay free.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace smol::server {

// Any thread.
class TaskQueue {
 public:
  explicit TaskQueue(std::size_t most_waiting);
  // Waits for the job in hand and drops the others.
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  // The job must not throw. Throws Error{Exhausted} when too many wait.
  void add(std::function<void()> job);

 private:
  void run();

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace smol::server
