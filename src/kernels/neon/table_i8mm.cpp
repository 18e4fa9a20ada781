// The NEON table with products of panels by int8 matrix products (i8mm, Armv8.6).
#include <asm/hwcap.h>
#include <sys/auxv.h>

#include "kernels/neon/ops.h"
#include "kernels/panel.h"
#include "kernels/tables.h"

namespace smol::kernels {
namespace {

bool has_matrix_products() noexcept {
  return neon_table().runs_on_this_cpu() && (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0;
}

MatMul matmul(gguf::DType weights) noexcept {
  return has_panels(weights) ? neon::matmul_panels_i8mm(weights) : neon_table().matmul(weights);
}

}  // namespace

const KernelTable& i8mm_table() noexcept {
  static const KernelTable table = [] {
    KernelTable all = neon_table();
    all.isa = "i8mm";
    all.runs_on_this_cpu = has_matrix_products;
    all.matmul = matmul;
    return all;
  }();
  return table;
}

}  // namespace smol::kernels
