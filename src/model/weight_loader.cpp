#include "model/weight_loader.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <utility>

#include "base/error.h"
#include "base/huge_page_arena.h"
#include "kernels/panel.h"
#include "model/fnv.h"

namespace smol::model {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;

// Calls work(worker, i, arena) for i in [0, n_pieces) on all threads; the first failure ends it and
// is thrown.
WeightMemory fill_arena(
    std::size_t size_bytes, std::size_t n_pieces, ThreadPool& pool,
    const std::function<void(std::size_t, std::size_t, std::span<std::byte>)>& work) {
  const auto arena = std::make_shared<HugePageArena>(size_bytes);
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> failures(pool.size());
  pool.run([&](std::size_t worker) {
    try {
      for (std::size_t i = next++; i < n_pieces; i = next++) {
        work(worker, i, {arena->data(), size_bytes});
      }
    } catch (...) {
      failures[worker] = std::current_exception();
      next = n_pieces;
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
  if (huge_page_bytes(arena->bytes()) < size_bytes) {
    arena->collapse();
  }
  return {arena, arena->bytes()};
}

// All but the ends, and what little may have been read in small pieces.
bool lies_on_huge_pages(std::span<const std::byte> panels) {
  constexpr std::size_t kShare = 16;
  const std::size_t small = panels.size() - huge_page_bytes(panels);
  return small <= 2 * HugePageArena::kAlignment + panels.size() / kShare;
}

}  // namespace

void WeightLoader::plan(const gguf::TensorView& tensor, kernels::Matrix& matrix) {
  matrix = {tensor.dtype, nullptr, tensor.n_rows(), tensor.n_cols(), tensor.row_bytes()};
  entries_.push_back({&tensor, &matrix, size_bytes_});
  const std::size_t bytes = kernels::matrix_bytes(tensor.dtype, matrix.n_rows, matrix.row_bytes);
  constexpr std::size_t kMask = kernels::kPanelAlignment - 1;
  size_bytes_ += (bytes + kMask) & ~kMask;
}

WeightMemory WeightLoader::load(ThreadPool& pool, const std::filesystem::path& panel_file) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  report_ = {};
  std::optional<WeightMemory> memory;
  if (!panel_file.empty()) {
    memory = use(panel_file, pool);
  }
  if (!memory) {
    memory = pack(pool);
  }
  for (const Entry& entry : entries_) {
    entry.matrix->data = memory->bytes.data() + entry.offset;
  }
  report_.bytes = size_bytes_;
  report_.huge_page_bytes = huge_page_bytes(memory->bytes);
  report_.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (!panel_file.empty() && report_.source == LoadSource::Model) {
    keep(panel_file, memory->bytes);
  }
  return *memory;
}

WeightMemory WeightLoader::pack(ThreadPool& pool) const {
  const std::vector<Piece> all = pieces();
  std::vector<std::vector<std::byte>> buffers(pool.size());
  return fill_arena(size_bytes_, all.size(), pool,
                    [&](std::size_t worker, std::size_t i, std::span<std::byte> arena) {
                      fill(all[i], arena, buffers[worker]);
                    });
}

// Nothing where the file cannot be used.
std::optional<WeightMemory> WeightLoader::use(const std::filesystem::path& panel_file,
                                              ThreadPool& pool) {
  try {
    const auto file = std::make_shared<const PanelFile>(panel_file, origin());
    file->take_pages();
    if (lies_on_huge_pages(file->panels())) {
      report_.source = LoadSource::Mapped;
      return WeightMemory{file, file->panels()};
    }
    file->give_back_pages();
    WeightMemory memory =
        fill_arena(size_bytes_, (size_bytes_ + kBufferBytes - 1) / kBufferBytes, pool,
                   [&](std::size_t /*worker*/, std::size_t i, std::span<std::byte> arena) {
                     const std::size_t at = i * kBufferBytes;
                     file->read(at, arena.subspan(at, std::min(kBufferBytes, size_bytes_ - at)));
                   });
    report_.source = LoadSource::Read;
    return memory;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::NotFound) {
      report_.warnings.push_back(std::string(error.what()) + "; the model file is read");
    }
    return std::nullopt;
  }
}

void WeightLoader::keep(const std::filesystem::path& panel_file,
                        std::span<const std::byte> panels) {
  try {
    PanelFile::write(panel_file, origin(), panels);
  } catch (const Error& error) {
    report_.warnings.push_back(std::string(error.what()) + "; no panel file is written");
  }
}

PanelOrigin WeightLoader::origin() const {
  constexpr std::size_t kSampleBytes = 64;
  std::array<std::byte, kSampleBytes> sample{};
  Fnv hash;
  for (const Entry& entry : entries_) {
    const gguf::TensorView& tensor = *entry.tensor;
    hash.add(tensor.name);
    hash.add_number(tensor.dtype);
    for (const std::size_t axis : tensor.shape) {
      hash.add_number(std::uint64_t{axis});
    }
    const std::span beginning =
        std::span(sample).first(std::min(kSampleBytes, tensor.bytes.size()));
    file_.read(tensor, 0, beginning);
    hash.add(beginning);
  }
  return {file_.size_bytes(), file_.modified_ns(), hash.value(), size_bytes_};
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
