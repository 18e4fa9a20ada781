// Rows of activations on their way into a matrix product: float32, and quantized as the weights
// want them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "kernels/kernel_table.h"
#include "model/cpu/reserved_array.h"

namespace smol::model {

// Which quantized forms some matrices want.
struct QuantizedForms {
  bool q8x32 = false, q8x256 = false;
  static QuantizedForms of(std::initializer_list<const kernels::Matrix*> matrices) noexcept;
};

class MatMulInput {
 public:
  // Any rows [n_tokens, n_cols] up to these sizes.
  MatMulInput(std::size_t max_tokens, std::size_t max_cols, const kernels::KernelTable& kernels);

  // The float32 row of a token, to be written. Rows of other lengths lie elsewhere.
  [[nodiscard]] std::span<float> row(std::size_t token, std::size_t n_cols) const noexcept {
    return f32_.row(token, n_cols);
  }

  // Derives the quantized forms of a finished row, one of the `n_tokens` that a product will take.
  // Different tokens may run at the same time.
  void quantize(std::size_t token, std::size_t n_tokens, std::size_t n_cols,
                QuantizedForms forms) const noexcept;
  // What a product with `matrix` reads; the rows must hold that form.
  [[nodiscard]] kernels::Activations for_matrix(const kernels::Matrix& matrix,
                                                std::size_t n_tokens) const noexcept;

 private:
  struct Form {
    Form(std::size_t max_tokens, std::size_t max_cols, std::size_t block);
    std::size_t block;
    ReservedArray<std::int8_t> codes;
    ReservedArray<float> scales;
    ReservedArray<std::int16_t> sums;
  };

  // Where the blocks of a token go.
  static kernels::QuantizedRow place(const Form& form, std::size_t token,
                                     std::size_t n_tokens) noexcept;

  const kernels::KernelTable& kernels_;
  ReservedArray<float> f32_;
  Form q8x32_, q8x256_;
};

}  // namespace smol::model
