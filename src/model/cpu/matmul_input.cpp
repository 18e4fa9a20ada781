#include "model/cpu/matmul_input.h"

namespace smol::model {

namespace {

constexpr std::size_t kSmallBlock = 32;
constexpr std::size_t kLargeBlock = 256;

}  // namespace

QuantizedForms QuantizedForms::of(std::initializer_list<const kernels::Matrix*> matrices) noexcept {
  QuantizedForms forms;
  for (const kernels::Matrix* matrix : matrices) {
    const kernels::ActivationFormat format = kernels::activation_format(matrix->dtype);
    forms.q8x32 |= format == kernels::ActivationFormat::Q8x32;
    forms.q8x256 |= format == kernels::ActivationFormat::Q8x256;
  }
  return forms;
}

MatMulInput::Form::Form(std::size_t max_rows, std::size_t max_cols, std::size_t block_length)
    : block(block_length),
      codes(max_rows * max_cols),
      scales(max_rows * (max_cols / block_length)),
      sums(max_rows * (max_cols / kernels::kSumBlock)),
      joined(max_rows * (max_cols / kernels::kJoinedBlock)),
      peaks(max_rows * (max_cols / block_length)) {}

MatMulInput::MatMulInput(std::size_t max_rows, std::size_t max_cols,
                         const kernels::KernelTable& kernels)
    : kernels_(kernels),
      q8x32_(max_rows, max_cols, kSmallBlock),
      q8x256_(max_rows, max_cols, kLargeBlock) {}

kernels::QuantizedRow MatMulInput::place(const Form& form, InputRow to,
                                         std::size_t column) noexcept {
  const std::size_t at = column / form.block * to.n_rows + to.row;  // blocks before
  return {form.codes.data() + at * form.block,
          form.scales.data() + at,
          form.sums.data() + at * (form.block / kernels::kSumBlock),
          form.joined.data() + at * (form.block / kernels::kJoinedBlock),
          form.peaks.data() + at,
          to.n_rows};
}

void MatMulInput::quantize(InputRow to, std::size_t first_column, std::span<const float> x,
                           QuantizedForms forms) const noexcept {
  if (forms.q8x32) {
    kernels_.quantize_q8x32(x, place(q8x32_, to, first_column));
  }
  if (forms.q8x256) {
    kernels_.quantize_q8x256(x, place(q8x256_, to, first_column));
  }
}

kernels::Activations MatMulInput::for_matrix(const kernels::Matrix& matrix, std::size_t n_rows,
                                             const float* f32) const noexcept {
  const kernels::ActivationFormat format = kernels::activation_format(matrix.dtype);
  const Form& form = format == kernels::ActivationFormat::Q8x256 ? q8x256_ : q8x32_;
  return {format,
          n_rows,
          matrix.n_cols,
          f32,
          form.codes.data(),
          form.scales.data(),
          form.sums.data(),
          form.joined.data(),
          form.peaks.data()};
}

}  // namespace smol::model
