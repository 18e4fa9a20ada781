#include "server/task_queue.h"

#include <string>
#include <utility>

#include "base/error.h"

namespace smol::server {

TaskQueue::TaskQueue(std::size_t most_waiting)
    : most_waiting_(most_waiting), thread_([this] { run(); }) {}

TaskQueue::~TaskQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void TaskQueue::add(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= most_waiting_) {
      throw Error{ErrorCode::Exhausted, "queue: expected fewer than " +
                                            std::to_string(most_waiting_) +
                                            " waiting requests, found as many"};
    }
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

void TaskQueue::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) {
      return;
    }
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace smol::server
