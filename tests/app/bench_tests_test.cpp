// What the tests of `smolbot bench` count.
#include "app/bench_tests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smol::app {
namespace {

using ::testing::DoubleEq;

constexpr ModelCost kCost{.layer_bytes = 1000.0,
                          .layer_products = 2000.0,
                          .output_bytes = 100.0,
                          .output_products = 300.0,
                          .position_bytes = 2.0,
                          .position_products = 5.0};

TEST(BenchWork, OfAPromptReadsTheLayersOnceAChunkAndMultipliesThemForEachToken) {
  const BenchTest prompt{"pp6", 6, 4, 1};
  const Work work = work_of(kCost, prompt, 10);
  // Two chunks, which find 14 and 16 positions; tokens attend to 11, 12 ... 16 of them.
  EXPECT_THAT(work.bytes, DoubleEq(2 * 1000.0 + (14 + 16) * 2.0));
  EXPECT_THAT(work.products, DoubleEq(6 * 2000.0 + (11 + 12 + 13 + 14 + 15 + 16) * 5.0));
}

TEST(BenchWork, OfSequencesReadsTheWeightsOnceForAllOfThem) {
  const BenchTest generation{"tg2", 2, 1, 3};
  const Work work = work_of(kCost, generation, 0);
  EXPECT_THAT(work.bytes, DoubleEq(2 * 1100.0 + 3 * (1 + 2) * 2.0));
  EXPECT_THAT(work.products, DoubleEq(3 * (2 * 2300.0 + (1 + 2) * 5.0)));
}

TEST(BenchTests, AreThePromptAndOneGenerationForEachNumberOfSequences) {
  const BenchSettings settings{.prompt_tokens = 7, .generated_tokens = 3, .sequences = {1, 4}};
  const std::vector<BenchTest> tests = tests_of(settings);
  ASSERT_EQ(tests.size(), 3U);
  EXPECT_EQ(tests[0].name, "pp7");
  EXPECT_EQ(tests[0].chunk, 512U);
  EXPECT_EQ(tests[2].name, "tg3");
  EXPECT_EQ(tests[2].sequences, 4U);
  EXPECT_TRUE(tests_of({.prompt_tokens = 0, .generated_tokens = 0}).empty());
}

}  // namespace
}  // namespace smol::app
