// Matrix products of one step, and what follows them without waiting for the rest of the step: the
// rows of each matrix come in groups, and whoever completes a group goes on with it while its
// results are still in the cache.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/kernel_table.h"

namespace smol::model {

// Where a product's results go.
enum class ResultLayout {
  Rows,   // [n_tokens, w->n_rows]
  Groups  // [groups, n_tokens, group_rows]: what follows a group finds all of it together
};

// y[t, r] = dot(w[r, :], x[t, :])
struct Product {
  const kernels::Matrix* w;
  kernels::Activations x;
  float* y;
  std::size_t group_rows;  // of whole panels; the last group may have fewer
  ResultLayout layout = ResultLayout::Rows;
};

// One caller thread at a time. Nothing allocates after the construction.
class Multiplier {
 public:
  Multiplier(ThreadPool& pool, const kernels::KernelTable& kernels, std::size_t max_groups);

  // All products, which must have as many groups each; every weight is read once. finish(g) is
  // called once for each group g, when its rows of all products are done for every token, on any
  // thread of the pool. Returns when everything is finished.
  template <class Finish>
  void run(std::span<const Product> products, const Finish& finish) {
    run_groups(products, std::cref(finish));
  }

  void run(const Product& product) {
    run({&product, 1}, [](std::size_t) {});
  }

 private:
  struct Step;

  void run_groups(std::span<const Product> products,
                  const std::function<void(std::size_t)>& finish);
  void multiply_part(const Step& step, std::size_t group, std::size_t first,
                     std::size_t last) const;

  ThreadPool& pool_;
  const kernels::KernelTable& kernels_;
  std::vector<std::atomic<std::size_t>>
      done_;  // panels of each group that are done; 0 between steps
};

}  // namespace smol::model
