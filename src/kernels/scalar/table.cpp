#include "kernels/scalar/ops.h"
#include "kernels/tables.h"

namespace smol::kernels {

const KernelTable& scalar_table() noexcept {
  static constexpr KernelTable kTable{
      .isa = "scalar",
      .runs_on_this_cpu = []() noexcept { return true; },
      .quantize_q8x32 = scalar::quantize_q8x32,
      .quantize_q8x256 = scalar::quantize_q8x256,
      .matmul = scalar::matmul,
      .rms_norm = scalar::rms_norm,
      .rope_adjacent = scalar::rope_adjacent,
      .rope_halves = scalar::rope_halves,
      .swiglu = scalar::swiglu,
      .add = scalar::add,
      .kv_store = scalar::kv_store,
      .attend = scalar::attend,
      .combine_runs = scalar::combine_runs,
  };
  return kTable;
}

}  // namespace smol::kernels
