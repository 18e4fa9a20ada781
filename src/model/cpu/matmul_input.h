// Activations on their way into a matrix product, quantized as the weights want them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "kernels/kernel_table.h"
#include "model/cpu/reserved_array.h"

namespace smol::model {

// Which quantized forms some matrices want.
struct QuantizedForms {
  bool q8x32 = false, q8x256 = false;
  static QuantizedForms of(std::initializer_list<const kernels::Matrix*> matrices) noexcept;
};

// One of the rows that a product will take.
struct InputRow {
  std::size_t row, n_rows;
};

class MatMulInput {
 public:
  // Any rows [n_rows, n_cols] up to these sizes.
  MatMulInput(std::size_t max_rows, std::size_t max_cols, const kernels::KernelTable& kernels);

  // Quantizes columns of a row from `first_column` on, which begins a block of each form and so
  // does what follows them. Different columns and rows may run at the same time.
  void quantize(InputRow to, std::size_t first_column, std::span<const float> x,
                QuantizedForms forms) const noexcept;
  // What a product with `matrix` reads; the rows must hold that form. `f32` [n_rows, n_cols]: the
  // same rows, for matrices that take floats.
  [[nodiscard]] kernels::Activations for_matrix(const kernels::Matrix& matrix, std::size_t n_rows,
                                                const float* f32) const noexcept;

 private:
  struct Form {
    Form(std::size_t max_rows, std::size_t max_cols, std::size_t block);
    std::size_t block;
    ReservedArray<std::int8_t> codes;
    ReservedArray<float> scales;
    ReservedArray<std::int16_t> sums, joined, peaks;
  };

  // Where the blocks of a row go, from that of a column on.
  static kernels::QuantizedRow place(const Form& form, InputRow to, std::size_t column) noexcept;

  const kernels::KernelTable& kernels_;
  Form q8x32_, q8x256_;
};

}  // namespace smol::model
