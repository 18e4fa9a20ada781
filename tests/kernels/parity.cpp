#include "kernels/parity.h"

#include "kernels/tables.h"

namespace smol::kernels::test {

std::vector<const KernelTable*> tables_to_compare() {
  std::vector<const KernelTable*> tables;
  for (const KernelTable* table : compiled_kernels()) {
    if (table != &scalar_table()) {
      tables.push_back(table);
    }
  }
  return tables;
}

const KernelTable& ParityTest::scalar() const {
  return scalar_table();
}

}  // namespace smol::kernels::test
