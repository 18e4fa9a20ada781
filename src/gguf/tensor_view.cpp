#include "gguf/tensor_view.h"

namespace smol::gguf {

std::size_t TensorView::n_rows() const noexcept {
  std::size_t rows = 1;
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) {
    rows *= shape[axis];
  }
  return rows;
}

std::size_t TensorView::row_bytes() const noexcept {
  const DTypeTraits& type = traits(dtype);
  return n_cols() / type.block_elements * type.block_bytes;
}

}  // namespace smol::gguf
