#include "model/cpu/multiplier.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/panel.h"

namespace smol::model {

namespace {

using kernels::kPanelRows;

// With fewer tokens, reading the weights takes the time.
constexpr std::size_t kLargeBatch = 16;
// What a kernel gets at a time: it stays in the second-level cache while the tokens of a batch
// pass.
constexpr std::size_t kStripBytes = std::size_t{64} * 1024;
// The least that makes loading the tokens' columns worth while.
constexpr std::size_t kStripPanels = 4;
// What a large batch is handed out in: some kernels multiply two panels at once.
constexpr std::size_t kPairPanels = 2;

std::size_t group_count(const Product& product) noexcept {
  return (product.w->n_rows + product.group_rows - 1) / product.group_rows;
}

// Work is counted in panels, for matrices in rows too.
std::size_t group_panels(const Product& product) noexcept {
  return product.group_rows / kPanelRows;
}

std::size_t strip_panels(const Product& product) noexcept {
  const std::size_t least = product.x.n_tokens < kLargeBatch ? 1 : kStripPanels;
  return std::max(kStripBytes / (kPanelRows * product.w->row_bytes), least);
}

// A group's results: y[t * stride + r], r counted from the matrix's first row.
struct GroupResults {
  float* y;
  std::size_t stride;
};

GroupResults results_of(const Product& product, std::size_t group) noexcept {
  if (product.layout == ResultLayout::Rows) {
    return {product.y, product.w->n_rows};
  }
  const std::size_t rows_before = group * product.group_rows;
  return {product.y + rows_before * product.x.n_tokens - rows_before, product.group_rows};
}

}  // namespace

// Panels in the order in which they are handed out: group by group, product by product.
struct Multiplier::Step {
  std::span<const Product> products;
  std::size_t panels;  // of a group, in all products
};

Multiplier::Multiplier(ThreadPool& pool, const kernels::KernelTable& kernels,
                       std::size_t max_groups)
    : pool_(pool), kernels_(kernels), done_(max_groups) {}

// Panels [first, last) of a group.
void Multiplier::multiply_part(const Step& step, std::size_t group, std::size_t first,
                               std::size_t last) const {
  std::size_t before = 0;  // panels of the products before this one
  for (const Product& product : step.products) {
    const std::size_t after = before + group_panels(product);
    const kernels::Matrix& w = *product.w;
    const std::size_t group_row = group * product.group_rows;
    const auto row_of = [&](std::size_t panel) {
      const std::size_t inside = std::clamp(panel, before, after) - before;
      return std::min(group_row + inside * kPanelRows, w.n_rows);
    };
    const GroupResults results = results_of(product, group);
    const std::size_t strip = strip_panels(product) * kPanelRows;
    const std::size_t end = row_of(last);
    for (std::size_t row = row_of(first); row < end; row += strip) {
      kernels_.matmul(w.dtype)(w, product.x, results.y, results.stride,
                               {row, std::min(row + strip, end)});
    }
    before = after;
  }
}

void Multiplier::run_groups(std::span<const Product> products,
                            const std::function<void(std::size_t)>& finish) {
  const std::size_t n_groups = group_count(products.front());
  Step step{products, 0};
  std::size_t strip = 1;
  for (const Product& product : products) {
    SMOL_CHECK(group_count(product) == n_groups && product.group_rows % kPanelRows == 0);
    step.panels += group_panels(product);
    strip = std::max(strip, strip_panels(product));
  }
  SMOL_CHECK(n_groups <= done_.size());
  const auto work = [&](std::size_t begin, std::size_t end) {
    while (begin < end) {
      const std::size_t group = begin / step.panels;
      const std::size_t first = group * step.panels;
      const std::size_t stop = std::min(end, first + step.panels);
      multiply_part(step, group, begin - first, stop - first);
      const std::size_t count = stop - begin;
      if (done_[group].fetch_add(count, std::memory_order_acq_rel) + count == step.panels) {
        done_[group].store(0, std::memory_order_relaxed);
        finish(group);
      }
      begin = stop;
    }
  };
  const std::size_t n_panels = n_groups * step.panels;
  if (products.front().x.n_tokens < kLargeBatch) {
    pool_.for_ranges(n_panels, strip, std::cref(work));
    return;
  }
  pool_.for_ranges((n_panels + kPairPanels - 1) / kPairPanels, 1,
                   [&](std::size_t begin, std::size_t end) {
                     work(begin * kPairPanels, std::min(end * kPairPanels, n_panels));
                   });
}

}  // namespace smol::model
