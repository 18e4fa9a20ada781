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

MatMulInput::Form::Form(std::size_t max_tokens, std::size_t max_cols, std::size_t block_length)
    : block(block_length),
      codes(max_tokens * max_cols),
      scales(max_tokens * (max_cols / block_length)),
      sums(max_tokens * (max_cols / kernels::kSumBlock)) {}

MatMulInput::MatMulInput(std::size_t max_tokens, std::size_t max_cols,
                         const kernels::KernelTable& kernels)
    : kernels_(kernels),
      f32_(max_tokens * max_cols),
      q8x32_(max_tokens, max_cols, kSmallBlock),
      q8x256_(max_tokens, max_cols, kLargeBlock) {}

kernels::QuantizedRow MatMulInput::place(const Form& form, std::size_t token,
                                         std::size_t n_tokens) noexcept {
  return {form.codes.data() + token * form.block, form.scales.data() + token,
          form.sums.data() + token * (form.block / kernels::kSumBlock), n_tokens};
}

void MatMulInput::quantize(std::size_t token, std::size_t n_tokens, std::size_t n_cols,
                           QuantizedForms forms) const noexcept {
  const std::span<const float> x = f32_.row(token, n_cols);
  if (forms.q8x32) {
    kernels_.quantize_q8x32(x, place(q8x32_, token, n_tokens));
  }
  if (forms.q8x256) {
    kernels_.quantize_q8x256(x, place(q8x256_, token, n_tokens));
  }
}

kernels::Activations MatMulInput::for_matrix(const kernels::Matrix& matrix,
                                             std::size_t n_tokens) const noexcept {
  const kernels::ActivationFormat format = kernels::activation_format(matrix.dtype);
  const Form& form = format == kernels::ActivationFormat::Q8x256 ? q8x256_ : q8x32_;
  return {format,          n_tokens,          matrix.n_cols,
          f32_.data(),     form.codes.data(), form.scales.data(),
          form.sums.data()};
}

}  // namespace smol::model
