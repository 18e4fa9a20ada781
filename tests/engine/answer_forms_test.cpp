// What shapes an answer beside the sampler: drafts, constraints, scores, a context that rolls.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/engine_helper.h"
#include "engine/fake_decoder.h"

namespace smol::engine {
namespace {

// Its text soon repeats: logits depend on the latest two tokens alone.
constexpr FakeSpec kRepeating{.vocab_size = 20, .context = 512, .max_batch = 64, .memory = 2};

Request greedy(Request request) {
  request.sampling.temperature = 0;
  return request;
}

TEST(Speculation, GivesTheSameAnswerInFewerSteps) {
  const Request request = greedy(request_of({1, 2, 3}, 300));
  FakeDecoder decoder(kRepeating);
  Engine engine(decoder, {});
  const Submitted found = submit(engine, request);
  EXPECT_EQ(found.tokens(), plain_answer(kRepeating, request));
  EXPECT_GT(found.finished().accepted_tokens, 0U);
  EXPECT_LE(found.finished().accepted_tokens, found.finished().drafted_tokens);
  EXPECT_EQ(found.finished().n_steps, 300 - found.finished().accepted_tokens);
}

TEST(Speculation, GivesTheSameAnswerWhenItIsDrawn) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Request request = request_of({1, 2, 3, 4}, 200, seed);
    request.sampling.temperature = 0.15;
    request.sampling.frequency_penalty = 0.001;
    FakeDecoder decoder(kRepeating);
    Engine engine(decoder, {});
    const Submitted found = submit(engine, request);
    EXPECT_EQ(found.tokens(), plain_answer(kRepeating, request)) << seed;
  }
}

TEST(Speculation, LeavesNothingOfARefusedDraftBehind) {
  const FakeSpec spec{.vocab_size = 6, .context = 512, .max_batch = 64, .memory = 40};
  FakeDecoder decoder(spec);
  Engine engine(decoder, {});
  const Request request = request_of({1, 2, 3}, 300);
  const Submitted found = submit(engine, request);
  EXPECT_EQ(found.tokens(), plain_answer(spec, request));
  EXPECT_GT(found.finished().drafted_tokens, found.finished().accepted_tokens);
  std::vector<TokenId> held = request.prompt;
  held.insert(held.end(), found.tokens().begin(), found.tokens().end() - 1);
  EXPECT_EQ(decoder.tokens(0), held);
}

TEST(Speculation, NeverGoesBeyondTheContext) {
  FakeSpec spec = kRepeating;
  spec.context = 61;
  FakeDecoder decoder(spec);
  Engine engine(decoder, {});
  const Request request = greedy(request_of({1, 2, 3}, 0));
  EXPECT_EQ(submit(engine, request).tokens(), plain_answer(spec, request));
}

TEST(Speculation, CanBeTurnedOff) {
  FakeDecoder decoder(kRepeating);
  Engine engine(decoder, {.speculate = false});
  EXPECT_EQ(submit(engine, greedy(request_of({1, 2, 3}, 100))).finished().drafted_tokens, 0U);
}

// Every third token is forced; the others are even.
class EvenAndForced final : public TokenConstraint {
 public:
  std::optional<TokenId> forced() override {
    return n_accepted_ % 3 == 2 ? std::optional<TokenId>(7) : std::nullopt;
  }

  std::span<const std::uint64_t> mask(std::size_t tokens_left) override {
    EXPECT_EQ(tokens_left, 30 - n_accepted_);
    return {&kEven, 1};
  }

  void accept(TokenId token) override {
    EXPECT_TRUE(n_accepted_ % 3 == 2 ? token == 7 : token % 2 == 0);
    ++n_accepted_;
  }

  bool must_end() const override { return false; }

 private:
  static constexpr std::uint64_t kEven = 0x5555555555555555U;
  std::size_t n_accepted_ = 0;
};

Submitted submit_constrained(Engine& engine, Request request) {
  request.constraint = std::make_shared<EvenAndForced>();
  return submit(engine, std::move(request));
}

TEST(Constraint, HoldsTheAnswerAndForcesTokensWithoutAStepOfTheirOwn) {
  FakeDecoder decoder(kRepeating);
  Engine engine(decoder, {.speculate = false});
  const Submitted found = submit_constrained(engine, request_of({1, 2, 3}, 30));
  EXPECT_EQ(found.tokens().size(), 30U);
  EXPECT_EQ(found.finished().n_steps, 20U);
  EXPECT_EQ(std::ranges::count(found.sink->forced, true), 10);
}

TEST(Constraint, GivesTheSameAnswerWithDraftsAndWithScores) {
  const auto answer = [](const EngineOptions& options, bool scores) {
    FakeDecoder decoder(kRepeating);
    Engine engine(decoder, options);
    Request request = request_of({1, 2, 3}, 30);
    request.sampling.temperature = 0.3;
    if (scores) {
      request.top_logprobs = 0;
    }
    return submit_constrained(engine, request).tokens();
  };
  const std::vector<TokenId> expected = answer({.speculate = false}, false);
  EXPECT_EQ(answer({}, false), expected);
  EXPECT_EQ(answer({}, true), expected);
  EXPECT_EQ(answer({.speculate = false}, true), expected);
}

// Twelve tokens, the last three of them forced.
class Twelve final : public TokenConstraint {
 public:
  std::optional<TokenId> forced() override {
    return n_accepted_ >= 9 ? std::optional<TokenId>(7) : std::nullopt;
  }

  std::span<const std::uint64_t> mask(std::size_t /*tokens_left*/) override { return {}; }

  void accept(TokenId /*token*/) override { ++n_accepted_; }

  bool must_end() const override { return n_accepted_ == 12; }

 private:
  std::size_t n_accepted_ = 0;
};

TEST(Constraint, EndsTheTurnWhereNothingMayFollowAlsoAtTheLimit) {
  for (const std::size_t max_tokens : {0U, 12U, 13U}) {
    FakeDecoder decoder(kRepeating);
    Engine engine(decoder, {.speculate = false});
    Request request = request_of({1, 2, 3}, max_tokens);
    request.constraint = std::make_shared<Twelve>();
    const Submitted found = submit(engine, request);
    EXPECT_EQ(found.tokens().size(), 12U);
    EXPECT_EQ(found.finished().reason, FinishReason::EndOfTurn);
    EXPECT_EQ(found.finished().n_steps, 9U);
  }
}

class Broken final : public TokenConstraint {
 public:
  std::optional<TokenId> forced() override { return std::nullopt; }

  std::span<const std::uint64_t> mask(std::size_t /*tokens_left*/) override {
    throw Error(ErrorCode::Exhausted, "grammar: too ambiguous");
  }

  void accept(TokenId /*token*/) override {}

  bool must_end() const override { return false; }
};

TEST(Constraint, ItsErrorEndsTheRequest) {
  FakeDecoder decoder(kRepeating);
  Engine engine(decoder, {});
  Request request = request_of({1, 2, 3});
  request.constraint = std::make_shared<Broken>();
  const Submitted found = submit(engine, request);
  try {
    found.finished();
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "grammar: too ambiguous");
  }
}

TEST(TokenScoresOf, AreLogarithmsOfTheRawDistribution) {
  const std::vector<float> logits{1.0F, 3.0F, std::nanf(""), 2.0F, 3.0F};
  const TokenScores scores = score_token(logits, 3, 3);
  const double sum = std::exp(1.0) + 2 * std::exp(3.0) + std::exp(2.0);
  EXPECT_NEAR(scores.logprob, 2.0 - std::log(sum), 1e-12);
  ASSERT_EQ(scores.top.size(), 3U);
  EXPECT_EQ(scores.top[0].id, 1);
  EXPECT_EQ(scores.top[1].id, 4);
  EXPECT_EQ(scores.top[2].id, 3);
  EXPECT_NEAR(scores.top[0].logprob, 3.0 - std::log(sum), 1e-12);
}

TEST(TokenScoresOf, ComeWithEachTokenAndChangeNone) {
  FakeDecoder decoder(kRepeating);
  Engine engine(decoder, {});
  Request request = request_of({1, 2, 3}, 50);
  request.top_logprobs = 2;
  const Submitted found = submit(engine, request);
  EXPECT_EQ(found.tokens(), plain_answer(kRepeating, request));
  ASSERT_EQ(found.sink->scores.size(), 50U);
  for (const TokenScores& scores : found.sink->scores) {
    EXPECT_EQ(scores.top.size(), 2U);
    EXPECT_LE(scores.logprob, scores.top[0].logprob);
  }
}

TEST(Rolling, GoesOnWithTheBeginningAndTheLatestTokens) {
  const FakeSpec spec{.context = 192, .max_batch = 64};
  FakeDecoder decoder(spec);
  Engine engine(decoder, {});
  Request request = request_of(numbers(150), 100);
  request.roll = true;
  const Submitted found = submit(engine, request);
  ASSERT_EQ(found.tokens().size(), 100U);
  EXPECT_TRUE(found.finished().rolled);
  EXPECT_EQ(found.finished().reason, FinishReason::MaxTokens);

  // Until then the same as without.
  Request before = request_of(numbers(150), 43);
  EXPECT_EQ(plain_answer(spec, before),
            std::vector<TokenId>(found.tokens().begin(), found.tokens().begin() + 43));
  // The slot holds the beginning and the end of the whole text.
  std::vector<TokenId> whole = request.prompt;
  whole.insert(whole.end(), found.tokens().begin(), found.tokens().end() - 1);
  const std::vector<TokenId> held = decoder.tokens(0);
  const std::size_t n_first = 48;
  ASSERT_GT(held.size(), n_first);
  EXPECT_TRUE(std::equal(held.begin(), held.begin() + n_first, whole.begin()));
  EXPECT_TRUE(std::equal(held.rbegin(), held.rend() - n_first, whole.rbegin()));
}

TEST(Rolling, TakesAPromptLongerThanTheContext) {
  FakeDecoder decoder({.context = 128, .max_batch = 64});
  Engine engine(decoder, {});
  Request request = request_of(numbers(300), 10);
  request.roll = true;
  const Submitted found = submit(engine, request);
  EXPECT_EQ(found.tokens().size(), 10U);
  EXPECT_TRUE(found.finished().rolled);
  EXPECT_EQ(found.finished().prompt_tokens, 300U);
}

TEST(Rolling, IsNotDoneUnasked) {
  FakeDecoder decoder({.context = 128, .max_batch = 64});
  Engine engine(decoder, {});
  const Submitted found = submit(engine, request_of(numbers(100), 0));
  EXPECT_EQ(found.finished().reason, FinishReason::ContextFull);
  EXPECT_FALSE(found.finished().rolled);
}

}  // namespace
}  // namespace smol::engine
