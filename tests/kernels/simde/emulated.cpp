// The parity tests' choice of tables in the program whose AVX-512, AVX-VNNI and AMX code runs on
// emulated intrinsics.
#include "kernels/parity.h"
#include "kernels/tables.h"
#include "kernels/x86/cpu.h"

namespace smol::kernels::test {

namespace {

KernelTable emulated(KernelTable table, std::string_view name) {
  table.isa = name;
  table.runs_on_this_cpu = x86::has_avx2;
  return table;
}

}  // namespace

std::vector<const KernelTable*> tables_to_compare() {
  static const KernelTable kAvx512 = emulated(avx512_table(), "avx512_emulated");
  static const KernelTable kAvxVnni = emulated(avxvnni_table(), "avxvnni_emulated");
  static const KernelTable kAmx = emulated(amx_table(), "amx_emulated");
  return {&kAvx512, &kAvxVnni, &kAmx};
}

const KernelTable& ParityTest::scalar() const {
  return scalar_table();
}

}  // namespace smol::kernels::test
