// Work of one forward step, split over the pool. Nothing here allocates.
#pragma once

#include <cstddef>
#include <functional>

#include "base/thread_pool.h"

namespace smol::model {

// work(i) for each i in [0, count). A reference, so that the closure is not copied to the heap.
template <class Work>
void parallel(ThreadPool& pool, std::size_t count, const Work& work) {
  pool.for_each(count, std::cref(work));
}

}  // namespace smol::model
