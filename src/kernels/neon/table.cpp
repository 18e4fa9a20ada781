// NEON with dot products of bytes (Armv8.2). What is not a product of panels is the scalar table's,
// whose loops become vectors here: every such processor has fused multiply-add.
#include <asm/hwcap.h>
#include <sys/auxv.h>

#include "kernels/neon/ops.h"
#include "kernels/panel.h"
#include "kernels/scalar/ops.h"
#include "kernels/tables.h"

namespace smol::kernels {
namespace {

bool has_dot_products() noexcept {
  return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
}

MatMul matmul(gguf::DType weights) noexcept {
  return has_panels(weights) ? neon::matmul_panels(weights) : scalar::matmul(weights);
}

}  // namespace

const KernelTable& neon_table() noexcept {
  static const KernelTable table = [] {
    KernelTable all = scalar_table();
    all.isa = "neon";
    all.runs_on_this_cpu = has_dot_products;
    all.matmul = matmul;
    return all;
  }();
  return table;
}

}  // namespace smol::kernels
