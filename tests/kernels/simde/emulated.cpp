// The parity tests' choice of tables in the program whose AVX-512 code runs on emulated intrinsics.
#include "kernels/parity.h"
#include "kernels/tables.h"
#include "kernels/x86/cpu.h"

namespace smol::kernels::test {

std::vector<const KernelTable*> tables_to_compare() {
  static const KernelTable kEmulated = [] {
    KernelTable table = avx512_table();
    table.isa = "avx512_emulated";
    table.runs_on_this_cpu = x86::has_avx2;
    return table;
  }();
  return {&kEmulated};
}

const KernelTable& ParityTest::scalar() const {
  return scalar_table();
}

}  // namespace smol::kernels::test
