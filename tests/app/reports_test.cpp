// Small pieces of output: progress, pieces, npy headers, divergences, shares of the weights.
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/bench_machine.h"
#include "app/console.h"
#include "app/divergence.h"
#include "app/npy.h"
#include "app/pieces.h"
#include "app/program.h"
#include "app/progress.h"
#include "base/mapped_file.h"
#include "support/temp_folder.h"

namespace smol::app {
namespace {

using ::testing::HasSubstr;

TEST(ProgressLine, ShowsShareAndTimeLeft) {
  const std::string line = progress_line("reading", 1, 4, std::chrono::seconds(10));
  EXPECT_THAT(line, HasSubstr("25 %"));
  EXPECT_THAT(line, HasSubstr("30 s left"));
}

TEST(ProgressLine, PromisesNothingBeforeTheFirstStep) {
  EXPECT_THAT(progress_line("reading", 0, 0, std::chrono::seconds(1)),
              ::testing::Not(HasSubstr("left")));
}

TEST(ShownPiece, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(shown_piece(" a\n\t\x1b"), "' a\\n\\t\\x1b'");
  EXPECT_EQ(shown_piece("\xe2\x82"), "'\\xe2\\x82'");
  EXPECT_EQ(shown_piece("é"), "'é'");
}

TEST(SafeForTerminal, KeepsTextAndDisarmsControls) {
  EXPECT_EQ(safe_for_terminal("a\n\tb"), "a\n\tb");
  EXPECT_EQ(safe_for_terminal("\x1b[2J"), "\xef\xbf\xbd[2J");
  EXPECT_EQ(safe_for_terminal("\xc2\x9b"), "\xef\xbf\xbd");
}

TEST(ErrorLine, IsOneLineWhateverTheMessage) {
  EXPECT_EQ(error_line("line 1\n  {{ x\n     ^"), "smolbot: line 1 | {{ x");
}

TEST(NpyHeader, IsAMultipleOf64BytesAndNamesTheShape) {
  const std::string header = npy_header(3, 128256);
  EXPECT_EQ(header.size() % 64, 0U);
  EXPECT_TRUE(header.starts_with("\x93NUMPY"));
  EXPECT_THAT(header, HasSubstr("'shape': (3, 128256)"));
  EXPECT_EQ(header.back(), '\n');
}

TEST(NpyWriter, LeavesNothingWithoutFinish) {
  const test::TempFolder folder;
  { NpyWriter writer{folder.path() / "x.npy", {}, 1, 2}; }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(NpyWriter, WritesHeaderAndRows) {
  const test::TempFolder folder;
  NpyWriter writer{folder.path() / "x.npy", {}, 1, 2};
  writer.write_row(std::vector<float>{1.0F, 2.0F});
  writer.finish();
  EXPECT_EQ(MappedFile{folder.path() / "x.npy"}.bytes().size(), npy_header(1, 2).size() + 8);
}

TEST(Divergence, IsZeroForEqualDistributions) {
  const std::vector<float> logits{1.0F, 2.0F, 3.0F};
  const std::vector<float> shifted{11.0F, 12.0F, 13.0F};
  EXPECT_NEAR(kl_divergence(logits, shifted), 0.0, 1e-12);
}

TEST(Divergence, FollowsItsDefinition) {
  // (1/2, 1/2) against (1/4, 3/4).
  const std::vector<float> reference{0.0F, 0.0F};
  const std::vector<float> tested{0.0F, std::log(3.0F)};
  EXPECT_NEAR(kl_divergence(reference, tested), 0.5 * std::log(2.0) + 0.5 * std::log(2.0 / 3.0),
              1e-6);
}

TEST(NegativeLogLikelihood, IsTheLogOfTheVocabularyForEqualLogits) {
  EXPECT_NEAR(negative_log_likelihood(std::vector<float>(8, -3.0F), 5), std::log(8.0), 1e-12);
}

TEST(Summarize, GivesMeanPercentileAndLargest) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) {
    values.push_back(i);
  }
  const DivergenceSummary summary = summarize(values);
  EXPECT_EQ(summary.mean, 50.5);
  EXPECT_EQ(summary.percentile_99, 99.0);
  EXPECT_EQ(summary.largest, 100.0);
  EXPECT_EQ(summarize({2.0}).percentile_99, 2.0);
}

TEST(SplitEvenly, GivesEachPartItsShareAndLosesNothing) {
  const std::vector<std::byte> first(100);
  const std::vector<std::byte> second(29);
  const std::vector<ByteSpans> parts = split_evenly({first, second}, 3);
  ASSERT_EQ(parts.size(), 3U);
  std::size_t total = 0;
  for (const ByteSpans& part : parts) {
    std::size_t size = 0;
    for (const auto& bytes : part) {
      size += bytes.size();
    }
    EXPECT_EQ(size, 43U);
    total += size;
  }
  EXPECT_EQ(total, 129U);
}

TEST(SplitEvenly, TakesMorePartsThanBytes) {
  const std::vector<std::byte> bytes(2);
  EXPECT_EQ(split_evenly({bytes}, 5).size(), 5U);
}

TEST(PeakResidentBytes, IsMoreThanNothing) {
  EXPECT_GT(peak_resident_bytes(), 0U);
}

}  // namespace
}  // namespace smol::app
