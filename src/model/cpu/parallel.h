// Work of one forward step, split over the pool. Nothing here allocates.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "base/thread_pool.h"
#include "kernels/kernel_table.h"

namespace smol::model {

// work(i) for each i in [0, count). A reference, so that the closure is not copied to the heap.
template <class Work>
void parallel(ThreadPool& pool, std::size_t count, const Work& work) {
  pool.for_each(count, std::cref(work));
}

// y[t, r] = dot(w[r, :], x[t, :])
struct Product {
  const kernels::Matrix* w;
  kernels::Activations x;
  float* y;  // [n_tokens, w->n_rows]
};

// All products in one step, split by panels, so that each weight is read once.
void multiply(ThreadPool& pool, const kernels::KernelTable& kernels,
              std::span<const Product> products);

}  // namespace smol::model
