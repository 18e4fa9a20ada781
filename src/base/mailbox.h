// Values from any thread to one that waits for them, in order.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

namespace smol {

template <class T>
class Mailbox {
 public:
  void push(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    pushed_.notify_one();
  }

  // Waits for the next one.
  T pop() {
    std::unique_lock lock(mutex_);
    pushed_.wait(lock, [this] { return !values_.empty(); });
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }

 private:
  std::mutex mutex_;
  std::condition_variable pushed_;
  std::deque<T> values_;
};

}  // namespace smol
