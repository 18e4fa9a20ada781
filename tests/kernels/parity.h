// The frame of the parity tests: one run for each compiled table, against the scalar one.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/kernel_table.h"

namespace smol::kernels::test {

// Every table but the scalar one; none where there is no other.
std::vector<const KernelTable*> tables_to_compare();

inline std::string table_name(const ::testing::TestParamInfo<const KernelTable*>& info) {
  return std::string(info.param->isa);
}

class ParityTest : public ::testing::TestWithParam<const KernelTable*> {
 protected:
  void SetUp() override {
    if (!table().runs_on_this_cpu()) {
      GTEST_SKIP() << "this processor has no " << table().isa;
    }
  }

  const KernelTable& table() const { return *GetParam(); }

  const KernelTable& scalar() const;
};

}  // namespace smol::kernels::test
