#include "kernels/avx2/ops.h"
#include "kernels/avx512/ops.h"
#include "kernels/panel.h"
#include "kernels/tables.h"
#include "kernels/x86/cpu.h"

namespace smol::kernels {
namespace {

MatMul matmul(gguf::DType weights) noexcept {
  if (has_panels(weights)) {
    return avx512::matmul_panels(weights);
  }
  switch (activation_format(weights)) {
    case ActivationFormat::F32:
      return avx512::matmul_float(weights);
    case ActivationFormat::Q8x32:
      return avx512::matmul_small(weights);
    default:
      return avx512::matmul_super(weights);
  }
}

}  // namespace

const KernelTable& avx512_table() noexcept {
  static constexpr KernelTable kTable{
      .isa = "avx512",
      .runs_on_this_cpu = x86::has_avx512,
      .quantize_q8x32 = avx2::quantize_q8x32,
      .quantize_q8x256 = avx512::quantize_q8x256,
      .matmul = matmul,
      .rms_norm = avx2::rms_norm,
      .rope_adjacent = avx2::rope_adjacent,
      .rope_halves = avx2::rope_halves,
      .swiglu = avx512::swiglu,
      .add = avx2::add,
      .kv_store = avx2::kv_store,
      .attend = avx512::attend,
      .combine_runs = avx2::combine_runs,
  };
  return kTable;
}

}  // namespace smol::kernels
