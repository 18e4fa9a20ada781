#include "model/weight_loader.h"

#include <algorithm>
#include <chrono>
#include <span>

#include "kernels/panel.h"

namespace smol::model {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20U;

}  // namespace

void WeightLoader::plan(const gguf::TensorView& tensor, kernels::Matrix& matrix) {
  matrix = {tensor.dtype, nullptr, tensor.n_rows(), tensor.n_cols(), tensor.row_bytes()};
  entries_.push_back({&tensor, &matrix, size_bytes_});
  const std::size_t bytes = kernels::matrix_bytes(tensor.dtype, matrix.n_rows, matrix.row_bytes);
  constexpr std::size_t kMask = kernels::kPanelAlignment - 1;
  size_bytes_ += (bytes + kMask) & ~kMask;
}

HugePageArena WeightLoader::load() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  HugePageArena arena(size_bytes_);
  std::vector<std::byte> buffer;
  for (const Entry& entry : entries_) {
    fill(entry, arena.data() + entry.offset, buffer);
    entry.matrix->data = arena.data() + entry.offset;
  }
  report_ = {size_bytes_, arena.huge_page_bytes(), 0.0};
  if (report_.huge_page_bytes < size_bytes_) {
    arena.collapse();
    report_.huge_page_bytes = arena.huge_page_bytes();
  }
  report_.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return arena;
}

void WeightLoader::fill(const Entry& entry, std::byte* out, std::vector<std::byte>& buffer) const {
  const gguf::TensorView& tensor = *entry.tensor;
  const kernels::Matrix& matrix = *entry.matrix;
  if (!kernels::has_panels(tensor.dtype)) {
    file_.read(tensor, 0, {out, tensor.bytes.size()});
    return;
  }
  const std::size_t source_bytes = kernels::kPanelRows * matrix.row_bytes;  // of a whole panel
  const std::size_t chunk = std::max(kBufferBytes / source_bytes, std::size_t{1}) * source_bytes;
  buffer.resize(std::max(buffer.size(), std::min(chunk, tensor.bytes.size())));
  for (std::size_t at = 0; at < tensor.bytes.size(); at += chunk) {
    const std::span rows(buffer.data(), std::min(chunk, tensor.bytes.size() - at));
    file_.read(tensor, at, rows);
    for (std::size_t used = 0; used < rows.size(); used += source_bytes) {
      const auto panel_rows = rows.subspan(used, std::min(source_bytes, rows.size() - used));
      kernels::pack_panel(tensor.dtype, panel_rows, matrix.row_bytes, out);
      out += kernels::panel_bytes(matrix.row_bytes);
    }
  }
}

}  // namespace smol::model
