#include "kernels/avxvnni/ops.h"
#include "kernels/panel.h"
#include "kernels/tables.h"
#include "kernels/x86/cpu.h"

namespace smol::kernels {
namespace {

MatMul matmul(gguf::DType weights) noexcept {
  return has_panels(weights) ? avxvnni::matmul_panels(weights) : avx2_table().matmul(weights);
}

}  // namespace

const KernelTable& avxvnni_table() noexcept {
  static const KernelTable kTable = [] {
    KernelTable all = avx2_table();
    all.isa = "avxvnni";
    all.runs_on_this_cpu = x86::has_avxvnni;
    all.matmul = matmul;
    all.attend = avxvnni::attend;
    return all;
  }();
  return kTable;
}

}  // namespace smol::kernels
