// A tensor of a validated file: type, shape and bytes. Does not own: the File must outlive it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "gguf/dtype.h"

namespace smol::gguf {

struct TensorView {
  std::string_view name;
  DType dtype;
  // Row-major, last axis contiguous: a matrix is {n_rows, n_cols}, a vector {n}. (The file stores
  // the reverse order.) 1 to 4 axes, none of them 0.
  std::vector<std::size_t> shape;
  std::span<const std::byte> bytes;  // exactly the rows' blocks; aligned as the file aligns them

  std::size_t n_cols() const noexcept { return shape.back(); }

  // Product of all axes but the last.
  std::size_t n_rows() const noexcept;
  std::size_t row_bytes() const noexcept;
};

}  // namespace smol::gguf
