#include "model/weight_loader.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <span>

#include "kernels/panel.h"

namespace smol::model {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;

}  // namespace

void WeightLoader::plan(const gguf::TensorView& tensor, kernels::Matrix& matrix) {
  matrix = {tensor.dtype, nullptr, tensor.n_rows(), tensor.n_cols(), tensor.row_bytes()};
  entries_.push_back({&tensor, &matrix, size_bytes_});
  const std::size_t bytes = kernels::matrix_bytes(tensor.dtype, matrix.n_rows, matrix.row_bytes);
  constexpr std::size_t kMask = kernels::kPanelAlignment - 1;
  size_bytes_ += (bytes + kMask) & ~kMask;
}

HugePageArena WeightLoader::load(ThreadPool& pool) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  HugePageArena arena(size_bytes_);
  read_all({arena.data(), size_bytes_}, pool);
  for (const Entry& entry : entries_) {
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

std::vector<WeightLoader::Piece> WeightLoader::pieces() const {
  std::vector<Piece> pieces;
  for (const Entry& entry : entries_) {
    const std::size_t unit = kernels::kPanelRows * entry.matrix->row_bytes;  // a whole panel
    const std::size_t most = std::max(kBufferBytes / unit, std::size_t{1}) * unit;
    const std::size_t size = entry.tensor->bytes.size();
    for (std::size_t at = 0; at < size; at += most) {
      pieces.push_back({&entry, at, std::min(most, size - at)});
    }
  }
  return pieces;
}

void WeightLoader::read_all(std::span<std::byte> arena, ThreadPool& pool) const {
  const std::vector<Piece> all = pieces();
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> failures(pool.size());
  pool.run([&](std::size_t worker) {
    try {
      std::vector<std::byte> buffer;
      for (std::size_t i = next++; i < all.size(); i = next++) {
        fill(all[i], arena, buffer);
      }
    } catch (...) {
      failures[worker] = std::current_exception();
      next = all.size();
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
}

void WeightLoader::fill(const Piece& piece, std::span<std::byte> arena,
                        std::vector<std::byte>& buffer) const {
  const gguf::TensorView& tensor = *piece.entry->tensor;
  const std::size_t row_bytes = piece.entry->matrix->row_bytes;
  std::byte* out = arena.data() + piece.entry->offset;
  if (!kernels::has_panels(tensor.dtype)) {
    file_.read(tensor, piece.begin, {out + piece.begin, piece.size});
    return;
  }
  buffer.resize(piece.size);
  file_.read(tensor, piece.begin, buffer);
  const std::size_t unit = kernels::kPanelRows * row_bytes;
  out += piece.begin / unit * kernels::panel_bytes(row_bytes);
  for (std::size_t at = 0; at < piece.size; at += unit) {
    const std::span rows = std::span(buffer).subspan(at, std::min(unit, piece.size - at));
    kernels::pack_panel(tensor.dtype, rows, row_bytes, out);
    out += kernels::panel_bytes(row_bytes);
  }
}

}  // namespace smol::model
