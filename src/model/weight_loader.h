// Matrices of a model file into memory, in the order in which the kernels read them: tensor by
// tensor through a small buffer, so that no moment holds two copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/huge_page_arena.h"
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
  HugePageArena load();

  // Of the last load().
  [[nodiscard]] const LoadReport& report() const noexcept { return report_; }

 private:
  struct Entry {
    const gguf::TensorView* tensor;
    kernels::Matrix* matrix;
    std::size_t offset;  // in the arena
  };

  void fill(const Entry& entry, std::byte* out, std::vector<std::byte>& buffer) const;

  const gguf::File& file_;
  std::vector<Entry> entries_;
  std::size_t size_bytes_ = 0;
  LoadReport report_;
};

}  // namespace smol::model
