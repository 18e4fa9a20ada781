#include "model/cpu/parallel.h"

#include <algorithm>

#include "kernels/panel.h"

namespace smol::model {

namespace {

// What a kernel gets at a time: it stays in the second-level cache while the tokens of a batch
// pass.
constexpr std::size_t kStripBytes = std::size_t{64} * 1024;

// Work is counted in panels, for matrices in rows too.
std::size_t panel_count(const kernels::Matrix& matrix) noexcept {
  return (matrix.n_rows + kernels::kPanelRows - 1) / kernels::kPanelRows;
}

void multiply_panels(const kernels::KernelTable& kernels, const Product& product, std::size_t begin,
                     std::size_t end) {
  const kernels::Matrix& w = *product.w;
  const kernels::RowRange rows{begin * kernels::kPanelRows,
                               std::min(end * kernels::kPanelRows, w.n_rows)};
  kernels.matmul(w.dtype)(w, product.x, product.y, w.n_rows, rows);
}

}  // namespace

void multiply(ThreadPool& pool, const kernels::KernelTable& kernels,
              std::span<const Product> products) {
  std::size_t panels = 0;
  std::size_t bytes = 0;
  for (const Product& product : products) {
    panels += panel_count(*product.w);
    bytes += product.w->n_rows * product.w->row_bytes;
  }
  const std::size_t strip = std::max(kStripBytes * panels / bytes, std::size_t{1});
  const auto work = [&](std::size_t begin, std::size_t end) {
    std::size_t first = 0;  // of the product's panels among all
    for (const Product& product : products) {
      const std::size_t last = first + panel_count(*product.w);
      const std::size_t stop = std::min(end, last);
      for (std::size_t at = std::max(begin, first); at < stop; at += strip) {
        multiply_panels(kernels, product, at - first, std::min(at + strip, stop) - first);
      }
      first = last;
    }
  };
  pool.for_ranges(panels, strip, std::cref(work));
}

}  // namespace smol::model
