#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/exp_double.h"

namespace smol::engine {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const std::vector<float> kLogits{1.0F, 3.0F, 2.0F, 0.0F};

std::vector<double> probabilities(const SamplingSettings& settings,
                                  const std::vector<TokenId>& history = {}) {
  return Sampler(settings, kLogits.size()).probabilities(kLogits, history);
}

std::size_t count_kept(const std::vector<double>& probabilities) {
  return static_cast<std::size_t>(
      std::ranges::count_if(probabilities, [](double p) { return p > 0; }));
}

std::string refusal(const SamplingSettings& settings) {
  try {
    validate(settings, 10);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::BadInput);
    return error.what();
  }
  return "";
}

TEST(ExpDouble, AgreesWithTheExactValue) {
  for (double x = 0; x > -700; x -= 0.37) {
    EXPECT_NEAR(exp_double(x) / std::exp(x), 1.0, 2e-15) << x;
  }
  EXPECT_EQ(exp_double(0), 1.0);
  EXPECT_EQ(exp_double(-1000), 0.0);
  EXPECT_EQ(exp_double(-std::numeric_limits<double>::infinity()), 0.0);
}

TEST(Random, DrawsTheNumbersOfXoshiro256StarStar) {
  // From an independent implementation of both algorithms.
  Random random(42);
  EXPECT_EQ(random.next(), 1546998764402558742U);
  EXPECT_EQ(random.next(), 6990951692964543102U);
  EXPECT_EQ(random.next(), 12544586762248559009U);
}

TEST(Sampler, WithoutFiltersIsTheSoftmax) {
  const std::vector<double> found = probabilities({});
  double total = 0;
  for (const float logit : kLogits) {
    total += std::exp(static_cast<double>(logit));
  }
  for (std::size_t i = 0; i < kLogits.size(); ++i) {
    EXPECT_NEAR(found[i], std::exp(static_cast<double>(kLogits[i])) / total, 1e-15);
  }
}

TEST(Sampler, AtTemperatureZeroTakesTheLargestLogitWithTheSmallestId) {
  const std::vector<float> logits{0.0F, 5.0F, 5.0F, 1.0F};
  Sampler sampler({.temperature = 0}, logits.size());
  EXPECT_EQ(sampler.pick(logits, {}), 1);
}

TEST(Sampler, TopKKeepsExactlyKAndTheSmallerIdOfEqualLogits) {
  const std::vector<float> logits{1.0F, 2.0F, 2.0F, 2.0F};
  const std::vector<double> found = Sampler({.top_k = 2}, 4).probabilities(logits, {});
  EXPECT_EQ(found, (std::vector<double>{0, 0.5, 0.5, 0}));
}

TEST(Sampler, TopPKeepsTheTokenThatCrossesIt) {
  // 0.087, 0.644, 0.237, 0.032
  EXPECT_EQ(count_kept(probabilities({.top_p = 0.6})), 1U);
  EXPECT_EQ(count_kept(probabilities({.top_p = 0.7})), 2U);
  EXPECT_EQ(count_kept(probabilities({.top_p = 0.9})), 3U);
  EXPECT_EQ(count_kept(probabilities({.top_p = 0.999})), 4U);
}

TEST(Sampler, TopPOfManyEqualLogitsKeepsTheSmallestIds) {
  const std::vector<float> logits(1000, 1.0F);
  const std::vector<double> found = Sampler({.top_p = 0.25}, 1000).probabilities(logits, {});
  EXPECT_EQ(count_kept(found), 250U);
  EXPECT_GT(found[249], 0);
}

TEST(Sampler, MinPComparesWithTheLargestProbability) {
  EXPECT_EQ(count_kept(probabilities({.min_p = 0.2})), 2U);  // exp(-1) is above, exp(-2) below
  EXPECT_EQ(count_kept(probabilities({.min_p = 1.0})), 1U);
}

TEST(Sampler, RepetitionPenaltyCountsEachIdOnce) {
  const std::vector<double> once = probabilities({.repetition_penalty = 2}, {1});
  EXPECT_EQ(once, probabilities({.repetition_penalty = 2}, {1, 1, 1}));
  EXPECT_LT(once[1], once[2]);
}

TEST(Sampler, FrequencyPenaltyCountsEachOccurrenceAndPresenceOnlyThePresence) {
  const std::vector<TokenId> thrice{2, 2, 2};
  EXPECT_EQ(probabilities({.frequency_penalty = 1}, thrice),
            probabilities({.presence_penalty = 3}, {2}));
  EXPECT_EQ(probabilities({.presence_penalty = 1}, thrice),
            probabilities({.presence_penalty = 1}, {2}));
}

TEST(Sampler, LeavesNoTraceOfOnePickInTheNext) {
  Sampler sampler({.frequency_penalty = 1}, kLogits.size());
  const std::vector<TokenId> history{1, 1, 2};
  const std::vector<double> first = sampler.probabilities(kLogits, history);
  EXPECT_EQ(first, sampler.probabilities(kLogits, history));
}

TEST(Sampler, IgnoresIdsOfTheHistoryOutsideTheVocabulary) {
  EXPECT_EQ(probabilities({.presence_penalty = 1}, {-1, 4, 2}),
            probabilities({.presence_penalty = 1}, {2}));
}

TEST(Sampler, AddsBiasesBeforeEverythingElse) {
  SamplingSettings settings{.temperature = 0};
  settings.logit_bias = {{3, 100.0}};
  EXPECT_EQ(Sampler(settings, 4).pick(kLogits, {}), 3);
}

TEST(Sampler, DrawsEachTokenAsOftenAsItsProbabilitySays) {
  Sampler sampler({.seed = 7}, kLogits.size());
  const std::vector<double> expected = sampler.probabilities(kLogits, {});
  std::vector<double> seen(kLogits.size());
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    seen[static_cast<std::size_t>(sampler.pick(kLogits, {}))] += 1.0 / kDraws;
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_NEAR(seen[i], expected[i], 0.02);
  }
}

TEST(Sampler, WithTheSameSeedDrawsTheSameTokens) {
  const std::vector<float> logits{0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F};
  Sampler first({.seed = 1}, 8);
  Sampler second({.seed = 1}, 8);
  Sampler other({.seed = 2}, 8);
  std::vector<TokenId> a;
  std::vector<TokenId> b;
  std::vector<TokenId> c;
  for (int i = 0; i < 40; ++i) {
    a.push_back(first.pick(logits, {}));
    b.push_back(second.pick(logits, {}));
    c.push_back(other.pick(logits, {}));
  }
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_EQ(a[0], 6);  // the seed's first number is 0.70: fixed for all machines
}

TEST(Sampler, TreatsNaNAsImpossible) {
  const std::vector<float> logits{NAN, 1.0F, -kInf};
  const std::vector<double> found = Sampler({}, 3).probabilities(logits, {});
  EXPECT_EQ(found, (std::vector<double>{0, 1, 0}));
}

// Of every 16, without NaN.
std::vector<float> maxima_of(const std::vector<float>& logits) {
  std::vector<float> maxima((logits.size() + 15) / 16, -kInf);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    maxima[i / 16] = std::fmax(maxima[i / 16], logits[i]);
  }
  return maxima;
}

TEST(Sampler, FindsTheSameWithTheMaximaOfTheLogits) {
  Random random(3);
  std::vector<float> logits(1000);
  for (float& logit : logits) {  // many are equal
    logit = static_cast<float>(std::floor(random.uniform() * 40));
  }
  logits[77] = NAN;
  const std::vector<float> maxima = maxima_of(logits);
  const std::vector<std::uint64_t> mask(16, 0x5555'5555'5555'5555U);
  std::vector<SamplingSettings> all{{.temperature = 0},
                                    {.top_k = 1},
                                    {.top_k = 7},
                                    {.top_k = 60},
                                    {.top_k = 63},
                                    {.top_k = 999},
                                    {}};
  for (const std::size_t top_k : {3U, 50U}) {
    all.push_back({.temperature = 0.6, .top_k = top_k, .top_p = 0.9, .min_p = 0.02});
    all.push_back({.top_k = top_k, .presence_penalty = 30});
    all.push_back({.top_k = top_k, .logit_bias = {{5, 90.0}}});
  }
  for (const SamplingSettings& settings : all) {
    Sampler sampler(settings, logits.size());
    for (const auto& allowed : {std::span<const std::uint64_t>(), std::span(mask)}) {
      EXPECT_EQ(sampler.probabilities(logits, std::vector<TokenId>{1, 2, 3}, allowed, maxima),
                sampler.probabilities(logits, std::vector<TokenId>{1, 2, 3}, allowed));
    }
  }
}

TEST(Sampler, PicksTheSameIdsWithTheMaximaOfTheLogits) {
  Random random(4);
  Sampler with({.top_k = 20, .seed = 1}, 1000);
  Sampler without({.top_k = 20, .seed = 1}, 1000);
  for (int i = 0; i < 50; ++i) {
    std::vector<float> logits(1000);
    std::ranges::generate(logits, [&] { return static_cast<float>(random.uniform() * 9); });
    EXPECT_EQ(with.pick(logits, {}, {}, maxima_of(logits)), without.pick(logits, {}));
  }
}

TEST(Sampler, RefusesLogitsWithoutAFiniteNumber) {
  EXPECT_THROW(Sampler({}, 2).pick(std::vector<float>{NAN, -kInf}, {}), Error);
  EXPECT_THROW(Sampler({}, 2).pick(std::vector<float>{1.0F, kInf}, {}), Error);
}

TEST(Sampler, SurvivesATinyTemperature) {
  const std::vector<double> found = probabilities({.temperature = 1e-300, .top_p = 0.9});
  EXPECT_EQ(found, (std::vector<double>{0, 1, 0, 0}));
}

TEST(SamplingSettings, NamesTheFieldTheRangeAndTheValue) {
  EXPECT_EQ(refusal({.top_p = 1.5}), "top_p: expected more than 0 and at most 1, found 1.5");
  EXPECT_EQ(refusal({.temperature = -1}), "temperature: expected 0 to 100, found -1");
  EXPECT_EQ(refusal({.temperature = NAN}), "temperature: expected 0 to 100, found nan");
  EXPECT_EQ(refusal({.min_p = 2}), "min_p: expected 0 to 1, found 2");
  EXPECT_EQ(refusal({.repetition_penalty = 0}),
            "repetition_penalty: expected more than 0 and at most 100, found 0");
  EXPECT_EQ(refusal({.logit_bias = {{10, 1.0}}}),
            "logit_bias: expected token ids below 10, found 10");
  EXPECT_EQ(refusal({.logit_bias = {{3, 101.0}}}), "logit_bias.3: expected -100 to 100, found 101");
  EXPECT_EQ(refusal({}), "");
}

}  // namespace
}  // namespace smol::engine
