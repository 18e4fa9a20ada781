#include "engine/step_speed.h"

#include <gtest/gtest.h>

#include "engine/prompt_lookup.h"

namespace smol::engine {
namespace {

using std::chrono::milliseconds;

TEST(StepSpeed, SeveralPromptsAreReadInStepsOfAboutTwoFifthsOfASecond) {
  StepSpeed speed;
  EXPECT_EQ(speed.chunk(2, 0, 0), 16U);
  speed.took(0, 16, milliseconds(320));
  EXPECT_EQ(speed.chunk(2, 0, 0), 16U);
  for (int i = 0; i < 30; ++i) {
    speed.took(0, 64, milliseconds(64));
  }
  EXPECT_GE(speed.chunk(2, 0, 0), 352U);
  EXPECT_LE(speed.chunk(2, 0, 0), 416U);
}

TEST(StepSpeed, APromptAloneIsReadInStepsOfAboutASecond) {
  StepSpeed speed;
  EXPECT_EQ(speed.chunk(1, 0, 0), 16U);
  for (int i = 0; i < 30; ++i) {
    speed.took(0, 64, milliseconds(64));
  }
  EXPECT_GE(speed.chunk(1, 0, 0), 896U);
  EXPECT_LE(speed.chunk(1, 0, 0), 1024U);
}

TEST(StepSpeed, ThePromptsOfManyRequestsTakeALargerShareOfAStep) {
  StepSpeed speed;
  for (int i = 0; i < 30; ++i) {
    speed.took(4, 0, milliseconds(60));
    speed.took(0, 16, milliseconds(16));
  }
  EXPECT_EQ(speed.chunk(1, 4, 4), 63U);  // 0.9 of a step, and 0.05 for each request beyond two
  EXPECT_EQ(speed.chunk(4, 4, 4), 72U);
  EXPECT_EQ(speed.chunk(1, 1, 4), 54U);  // one answer and its drafts
}

TEST(StepSpeed, BesideAnAnswerAStepTakesLessThanTwiceAsLong) {
  StepSpeed speed;
  for (int i = 0; i < 30; ++i) {
    speed.took(1, 0, milliseconds(60));
    speed.took(0, 16, milliseconds(80));
  }
  const std::size_t chunk = speed.chunk(1, 1, 1);
  EXPECT_GE(chunk, 4U);
  EXPECT_LT(static_cast<double>(chunk) * 5, 60);
}

TEST(StepSpeed, KnowsWhatFurtherTokensCost) {
  StepSpeed speed;
  EXPECT_NEAR(speed.relative_cost(1, 3), 1.1, 1e-9);
  for (int i = 0; i < 50; ++i) {
    speed.took(1, 0, milliseconds(50));
    speed.took(5, 0, milliseconds(90));
  }
  EXPECT_NEAR(speed.writing_seconds(1), 0.05, 0.005);
  EXPECT_NEAR(speed.writing_seconds(3), 0.07, 0.005);
  EXPECT_NEAR(speed.relative_cost(1, 5), 1.8, 0.1);
}

TEST(PromptLookup, DraftsWhatFollowedTheLastTokensBefore) {
  PromptLookup lookup;
  const StepSpeed speed;
  lookup.append(std::vector<TokenId>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 50, 51, 1, 2});
  EXPECT_TRUE(lookup.draft(7, 1, speed).empty());
  lookup.append(std::vector<TokenId>{3, 4, 5, 6, 7, 8});
  EXPECT_EQ(lookup.draft(3, 1, speed), (std::vector<TokenId>{9, 10, 11}));
  EXPECT_TRUE(lookup.draft(0, 1, speed).empty());
}

TEST(PromptLookup, DraftsARepetitionBeyondWhatIsThere) {
  PromptLookup lookup;
  const StepSpeed speed;
  for (int i = 0; i < 6; ++i) {
    lookup.append(std::vector<TokenId>{1, 2, 3});
  }
  EXPECT_EQ(lookup.draft(5, 1, speed), (std::vector<TokenId>{1, 2, 3, 1, 2}));
}

TEST(PromptLookup, StopsWhereDraftsDoNotPayAndComesBackWhenTheyDo) {
  PromptLookup lookup;
  const StepSpeed speed;
  lookup.append(std::vector<TokenId>{1, 2, 3, 9, 1, 2, 3});
  for (int i = 0; i < 20; ++i) {
    lookup.took(lookup.draft(7, 1, speed).size(), 0);
  }
  EXPECT_TRUE(lookup.draft(7, 1, speed).empty());
  int waited = 0;
  while (lookup.draft(7, 1, speed).empty() && waited < 1000) {
    ++waited;
  }
  EXPECT_LT(waited, 1000);
}

}  // namespace
}  // namespace smol::engine
