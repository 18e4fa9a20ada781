#include "model/cpu/parallel.h"

#include <algorithm>

namespace smol::model {

namespace {

// Long enough to stream from memory at full speed, short enough to share the rest evenly.
constexpr std::size_t kStripBytes = std::size_t{64} * 1024;
constexpr std::size_t kRowsMultiple = 16;

std::size_t strip_rows(const kernels::Matrix& matrix) noexcept {
  const std::size_t rows = kStripBytes / matrix.row_bytes / kRowsMultiple * kRowsMultiple;
  return std::max(rows, kRowsMultiple);
}

std::size_t strip_count(const kernels::Matrix& matrix) noexcept {
  const std::size_t rows = strip_rows(matrix);
  return (matrix.n_rows + rows - 1) / rows;
}

}  // namespace

void multiply(ThreadPool& pool, const kernels::KernelTable& kernels,
              std::span<const Product> products) {
  std::size_t strips = 0;
  for (const Product& product : products) {
    strips += strip_count(*product.w);
  }
  parallel(pool, strips, [&](std::size_t strip) {
    const Product* product = products.data();
    for (; strip >= strip_count(*product->w); ++product) {
      strip -= strip_count(*product->w);
    }
    const kernels::Matrix& w = *product->w;
    const std::size_t begin = strip * strip_rows(w);
    const std::size_t end = std::min(begin + strip_rows(w), w.n_rows);
    kernels.matmul(w.dtype)(w, product->x, product->y, w.n_rows, {begin, end});
  });
}

}  // namespace smol::model
