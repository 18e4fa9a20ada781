// Matrices of a model file into memory, in the order in which the kernels read them: piece by piece
// through a small buffer of each thread, so that no moment holds two copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/huge_page_arena.h"
#include "base/thread_pool.h"
#include "gguf/file.h"
#include "kernels/kernel_table.h"

namespace smol::model {

// What loading took.
struct LoadReport {
  std::uint64_t bytes = 0;            // of the arena
  std::uint64_t huge_page_bytes = 0;  // of them on huge pages
  double seconds = 0.0;
};

class WeightLoader {
 public:
  // The file must outlive the loader.
  explicit WeightLoader(const gguf::File& file) : file_(file) {}

  // Gives the matrix [n_rows, n_cols] of a tensor its place; its `data` is set by load(), until
  // when `matrix` must stay where it is.
  void plan(const gguf::TensorView& tensor, kernels::Matrix& matrix);

  // Reads every planned tensor. Throws Error{Exhausted} if memory cannot be had, Error{Io} if the
  // file cannot be read.
  HugePageArena load(ThreadPool& pool);

  // Of the last load().
  [[nodiscard]] const LoadReport& report() const noexcept { return report_; }

 private:
  struct Entry {
    const gguf::TensorView* tensor;
    kernels::Matrix* matrix;
    std::size_t offset;  // in the arena
  };

  // A part of a tensor: bytes of the file, whole panels where its type has them.
  struct Piece {
    const Entry* entry;
    std::size_t begin, size;
  };

  [[nodiscard]] std::vector<Piece> pieces() const;
  void read_all(std::span<std::byte> arena, ThreadPool& pool) const;
  void fill(const Piece& piece, std::span<std::byte> arena, std::vector<std::byte>& buffer) const;

  const gguf::File& file_;
  std::vector<Entry> entries_;
  std::size_t size_bytes_ = 0;
  LoadReport report_;
};

}  // namespace smol::model
