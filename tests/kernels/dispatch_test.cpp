#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/tables.h"

namespace smol::kernels {
namespace {

using ::testing::HasSubstr;

TEST(Dispatch, ListsScalarLastAndItAlwaysRuns) {
  ASSERT_FALSE(compiled_kernels().empty());
  EXPECT_EQ(compiled_kernels().back()->isa, "scalar");
  EXPECT_TRUE(compiled_kernels().back()->runs_on_this_cpu());
}

TEST(Dispatch, ChoosesTheFirstTableThatRunsHere) {
  const KernelTable& chosen = choose_kernels(nullptr);
  for (const KernelTable* table : compiled_kernels()) {
    if (table == &chosen) {
      break;
    }
    EXPECT_FALSE(table->runs_on_this_cpu()) << table->isa;
  }
  EXPECT_TRUE(chosen.runs_on_this_cpu());
}

TEST(Dispatch, TreatsAnEmptyNameAsNone) {
  EXPECT_EQ(choose_kernels("").isa, choose_kernels(nullptr).isa);
}

TEST(Dispatch, TakesTheNamedTable) {
  for (const KernelTable* table : compiled_kernels()) {
    if (table->runs_on_this_cpu()) {
      EXPECT_EQ(&choose_kernels(std::string(table->isa).c_str()), table);
    }
  }
}

TEST(Dispatch, RefusesAnUnknownNameAndListsTheUsableOnes) {
  try {
    choose_kernels("quantum");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unsupported);
    EXPECT_THAT(error.what(), HasSubstr("quantum"));
    EXPECT_THAT(error.what(), HasSubstr("scalar"));
  }
}

TEST(Dispatch, RefusesATableThatThisProcessorCannotRun) {
  for (const KernelTable* table : compiled_kernels()) {
    if (!table->runs_on_this_cpu()) {
      EXPECT_THROW(choose_kernels(std::string(table->isa).c_str()), Error);
    }
  }
}

TEST(Dispatch, FollowsTheEnvironment) {
  EXPECT_EQ(active_kernels().isa, choose_kernels(std::getenv("SMOL_ISA")).isa);
}

TEST(ActivationFormat, FollowsTheBlockSize) {
  EXPECT_EQ(activation_format(gguf::DType::F32), ActivationFormat::F32);
  EXPECT_EQ(activation_format(gguf::DType::BF16), ActivationFormat::F32);
  EXPECT_EQ(activation_format(gguf::DType::IQ4_NL), ActivationFormat::Q8x32);
  EXPECT_EQ(activation_format(gguf::DType::Q5_1), ActivationFormat::Q8x32);
  EXPECT_EQ(activation_format(gguf::DType::Q4_K), ActivationFormat::Q8x256);
  EXPECT_EQ(activation_format(gguf::DType::IQ4_XS), ActivationFormat::Q8x256);
}

}  // namespace
}  // namespace smol::kernels
