// A fixed team of threads for data-parallel steps. Workers spin briefly after a step and then
// sleep: an idle program uses no CPU.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace smol {

// One caller thread at a time (it takes part as worker 0).
class ThreadPool {
 public:
  // n_threads >= 1, the caller included. Throws Error{Exhausted} if the system gives fewer.
  explicit ThreadPool(std::size_t n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ThreadPool(ThreadPool&&) = delete;
  ThreadPool& operator=(ThreadPool&&) = delete;

  [[nodiscard]] std::size_t size() const noexcept;
  // Calls work(worker) once on each worker in [0, size()) at the same time and waits for all of
  // them. `work` must not throw.
  void run(const std::function<void(std::size_t worker)>& work);
  // Calls work(i) for each i in [0, count), handed out dynamically, and waits for all of them.
  void for_each(std::size_t count, const std::function<void(std::size_t index)>& work);
  // Calls work(begin, end) for ranges that make up [0, count), handed out dynamically, and waits
  // for all of them. Long ranges come first, so that a worker reads on where it was; those at the
  // end are as short as `least` (at least 1), so that all finish together.
  void for_ranges(std::size_t count, std::size_t least,
                  const std::function<void(std::size_t begin, std::size_t end)>& work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Physical cores that affinity and the cgroup quota allow, at least 1.
std::size_t default_thread_count();

}  // namespace smol
