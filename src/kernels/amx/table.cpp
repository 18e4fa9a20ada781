#include "kernels/amx/ops.h"
#include "kernels/tables.h"
#include "kernels/x86/cpu.h"

namespace smol::kernels {
namespace {

MatMul matmul(gguf::DType weights) noexcept {
  const MatMul tiles = amx::matmul_panels(weights);
  return tiles != nullptr ? tiles : avx512_table().matmul(weights);
}

}  // namespace

const KernelTable& amx_table() noexcept {
  static const KernelTable kTable = [] {
    KernelTable all = avx512_table();
    all.isa = "amx";
    all.runs_on_this_cpu = x86::has_amx;
    all.matmul = matmul;
    all.attend = amx::attend;
    return all;
  }();
  return kTable;
}

}  // namespace smol::kernels
