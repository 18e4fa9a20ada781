#include "app/memory_plan.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace smol::app {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kUnknown = 0;

model::ModelConfig config_with(std::size_t context_length) {
  model::ModelConfig config;
  config.n_layers = 36;
  config.n_kv_heads = 4;
  config.head_dim = 128;
  config.context_length = context_length;
  return config;
}

MemoryNeed plain_need() {
  return {.weight_bytes = 1000, .bytes_per_position = 10, .working_bytes = 500};
}

TEST(MemoryNeed, CountsKeysAndValuesOfAllLayers) {
  const MemoryNeed need = memory_need(config_with(65536), model::KvCacheType::F16, 7);
  EXPECT_EQ(need.bytes_per_position, 2U * 36 * 4 * 128 * 2);
  EXPECT_EQ(need.weight_bytes, 7U);
  EXPECT_EQ(memory_need(config_with(65536), model::KvCacheType::F32, 7).bytes_per_position,
            2 * need.bytes_per_position);
  // One byte each, and a scale of two for each head's key and value.
  EXPECT_EQ(memory_need(config_with(65536), model::KvCacheType::Int8, 7).bytes_per_position,
            2U * 36 * 4 * (128 + 2));
}

TEST(PlanContext, DefaultIsTheSmallerOf16384AndTheModels) {
  EXPECT_EQ(plan_context(DefaultContext{}, config_with(65536), plain_need(), kUnknown), 16384U);
  EXPECT_EQ(plan_context(DefaultContext{}, config_with(4096), plain_need(), kUnknown), 4096U);
}

TEST(PlanContext, AutoIsTheModelsWhereItFits) {
  EXPECT_EQ(plan_context(AutoContext{}, config_with(65536), plain_need(), 1U << 30U), 65536U);
}

TEST(PlanContext, AutoIsTheLargestThatFitsOtherwise) {
  // 1500 fixed bytes leave 12,800, which is 1,280 positions.
  EXPECT_EQ(plan_context(AutoContext{}, config_with(65536), plain_need(), 14'300), 1280U);
}

TEST(PlanContext, SaysNeedAndRestAndRemedyWhereItDoesNotFit) {
  const MemoryNeed need{
      .weight_bytes = 2'000'000'000, .bytes_per_position = 100'000, .working_bytes = 0};
  try {
    plan_context(std::size_t{16384}, config_with(65536), need, 3'000'000'000);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Exhausted);
    EXPECT_THAT(error.what(), HasSubstr("a context of 16384 tokens: expected 3.64 GB"));
    EXPECT_THAT(error.what(), HasSubstr("found 3.00 GB available"));
    EXPECT_THAT(error.what(), HasSubstr("the largest context that fits is 9984 (--context auto)"));
  }
}

TEST(PlanContext, RefusesAutoWhereNotEvenTheWeightsFit) {
  EXPECT_THROW(plan_context(AutoContext{}, config_with(65536), plain_need(), 1200), Error);
}

TEST(PlanBlocks, HoldsTheContextsThatWereAskedFor) {
  EXPECT_EQ(plan_blocks(128, 3, plain_need(), kUnknown), 6U);
  EXPECT_EQ(plan_blocks(128, 3, plain_need(), 1U << 30U), 6U);
  EXPECT_EQ(plan_blocks(130, 1, plain_need(), kUnknown), 3U);  // the last one in part
}

TEST(PlanBlocks, FurtherContextsTakeAtMostHalfOfWhatTheFirstOneLeaves) {
  // 1,500 fixed bytes and 1,280 of the first context; a block takes 640.
  EXPECT_EQ(plan_blocks(128, 3, plain_need(), 2780 + 2 * 640), 3U);
  EXPECT_EQ(plan_blocks(128, 3, plain_need(), 2780 + 7 * 640), 5U);
}

TEST(PlanBlocks, OneContextIsThereInAnyCase) {
  EXPECT_EQ(plan_blocks(128, 3, plain_need(), 2780), 2U);
  EXPECT_EQ(plan_blocks(128, 3, plain_need(), 1), 2U);
}

}  // namespace
}  // namespace smol::app
