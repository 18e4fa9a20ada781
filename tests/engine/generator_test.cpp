#include "engine/generator.h"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/chunk_size.h"
#include "engine/fake_decoder.h"

namespace smol::engine {
namespace {

struct Answer {
  GenerationResult result;
  std::vector<TokenId> tokens;
};

Answer answer(Generator& generator, const GenerationRequest& request) {
  Answer out;
  out.result = generator.generate(request, [&](TokenId token) {
    out.tokens.push_back(token);
    return true;
  });
  return out;
}

GenerationRequest request_of(std::vector<TokenId> prompt, std::size_t max_tokens = 10) {
  GenerationRequest request;
  request.prompt = std::move(prompt);
  request.max_tokens = max_tokens;
  request.sampling.seed = 3;
  return request;
}

std::vector<TokenId> numbers(std::size_t count) {
  std::vector<TokenId> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(static_cast<TokenId>(i * 7 % 50));
  }
  return out;
}

TEST(Generator, GivesTheSameAnswerWithAndWithoutReuse) {
  FakeDecoder fresh_decoder;
  Generator fresh(fresh_decoder);
  const Answer expected = answer(fresh, request_of({1, 2, 3, 4, 5}));

  FakeDecoder decoder;
  Generator generator(decoder);
  answer(generator, request_of({1, 2, 3, 9, 9, 9}));
  const Answer found = answer(generator, request_of({1, 2, 3, 4, 5}));
  EXPECT_EQ(found.tokens, expected.tokens);
  EXPECT_EQ(found.result.cached_tokens, 3U);
  EXPECT_EQ(expected.result.cached_tokens, 0U);
}

TEST(Generator, ComputesTheLastTokenOfAKnownPromptAgain) {
  FakeDecoder decoder;
  Generator generator(decoder);
  const Answer first = answer(generator, request_of({1, 2, 3}));
  const Answer second = answer(generator, request_of({1, 2, 3}));
  EXPECT_EQ(second.result.cached_tokens, 2U);
  EXPECT_EQ(first.tokens, second.tokens);
}

TEST(Generator, ReusesItsOwnAnswerInTheNextTurn) {
  FakeDecoder decoder;
  Generator generator(decoder);
  const Answer first = answer(generator, request_of({1, 2, 3}));
  std::vector<TokenId> next{1, 2, 3};
  next.insert(next.end(), first.tokens.begin(), first.tokens.end());
  next.push_back(8);
  // The last token of an answer cut by max_tokens was picked but never computed.
  EXPECT_EQ(generator.reusable(next), 3 + first.tokens.size() - 1);
}

TEST(Generator, GivesTheSameAnswerForEveryChunkSize) {
  std::vector<TokenId> expected;
  for (const std::size_t chunk : {1U, 7U, 16U, 512U, 0U}) {
    FakeDecoder decoder;
    Generator generator(decoder);
    GenerationRequest request = request_of(numbers(40));
    request.prefill_chunk = chunk;
    const Answer found = answer(generator, request);
    if (expected.empty()) {
      expected = found.tokens;
    }
    EXPECT_EQ(found.tokens, expected) << chunk;
  }
}

TEST(Generator, CountsThePromptAndTheAnswer) {
  FakeDecoder decoder;
  Generator generator(decoder);
  const Answer found = answer(generator, request_of({1, 2, 3}, 4));
  EXPECT_EQ(found.result.reason, FinishReason::MaxTokens);
  EXPECT_EQ(found.result.prompt_tokens, 3U);
  EXPECT_EQ(found.result.generated_tokens, 4U);
  EXPECT_EQ(found.tokens.size(), 4U);
  EXPECT_EQ(found.result.seed, 3U);
}

TEST(Generator, StopsAtATokenThatEndsTheTurnAndDoesNotShowIt) {
  FakeDecoder decoder;
  Generator generator(decoder);
  const Answer whole = answer(generator, request_of({1, 2, 3}));
  generator.clear();
  GenerationRequest request = request_of({1, 2, 3});
  request.ends_turn = [&](TokenId token) { return token == whole.tokens[4]; };
  const Answer found = answer(generator, request);
  EXPECT_EQ(found.result.reason, FinishReason::EndOfTurn);
  EXPECT_EQ(found.tokens, std::vector<TokenId>(whole.tokens.begin(), whole.tokens.begin() + 4));
}

TEST(Generator, StopsWhenTheSinkSaysSo) {
  FakeDecoder decoder;
  Generator generator(decoder);
  int seen = 0;
  const GenerationResult result =
      generator.generate(request_of({1}), [&](TokenId) { return ++seen < 3; });
  EXPECT_EQ(result.reason, FinishReason::StopString);
  EXPECT_EQ(result.generated_tokens, 3U);
}

TEST(Generator, StopsWhereTheContextEnds) {
  FakeDecoder decoder(50, 8);
  Generator generator(decoder);
  const Answer found = answer(generator, request_of(numbers(6), 0));
  EXPECT_EQ(found.result.reason, FinishReason::ContextFull);
  EXPECT_EQ(found.tokens.size(), 3U);  // two are computed, the third is only picked
}

TEST(Generator, AnswersAPromptThatFillsTheContextWithOneToken) {
  FakeDecoder decoder(50, 8);
  Generator generator(decoder);
  const Answer found = answer(generator, request_of(numbers(8), 0));
  EXPECT_EQ(found.result.reason, FinishReason::ContextFull);
  EXPECT_EQ(found.tokens.size(), 1U);
}

TEST(Generator, RefusesAPromptLongerThanTheContextWithBothCounts) {
  FakeDecoder decoder(50, 8);
  Generator generator(decoder);
  try {
    answer(generator, request_of(numbers(9)));
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::BadInput);
    EXPECT_STREQ(error.what(), "prompt: expected at most 8 tokens (the context), found 9");
  }
}

TEST(Generator, RefusesAnEmptyPromptAndUnknownIds) {
  FakeDecoder decoder;
  Generator generator(decoder);
  EXPECT_THROW(answer(generator, request_of({})), Error);
  EXPECT_THROW(answer(generator, request_of({50})), Error);
  EXPECT_THROW(answer(generator, request_of({-1})), Error);
}

TEST(Generator, ReportsProgressFromWhatIsCachedToTheWholePrompt) {
  FakeDecoder decoder;
  Generator generator(decoder);
  answer(generator, request_of(numbers(10), 1));
  GenerationRequest request = request_of(numbers(30), 1);
  request.prefill_chunk = 8;
  std::vector<std::size_t> done;
  generator.generate(
      request, [](TokenId) { return true; },
      [&](const PrefillProgress& progress) {
        EXPECT_EQ(progress.total, 30U);
        EXPECT_EQ(progress.cached, 10U);
        done.push_back(progress.done);
      });
  EXPECT_EQ(done, (std::vector<std::size_t>{10, 18, 26, 30}));
}

TEST(Generator, CanBeCancelledInThePrompt) {
  FakeDecoder decoder;
  Generator generator(decoder);
  std::stop_source source;
  GenerationRequest request = request_of(numbers(30));
  request.prefill_chunk = 8;
  request.stop = source.get_token();
  decoder.before_forward = [&] { source.request_stop(); };
  const Answer found = answer(generator, request);
  EXPECT_EQ(found.result.reason, FinishReason::Cancelled);
  EXPECT_TRUE(found.tokens.empty());
  EXPECT_EQ(generator.cached().size(), 8U);  // what was computed is kept
}

TEST(Generator, CanBeCancelledInTheAnswer) {
  FakeDecoder decoder;
  Generator generator(decoder);
  std::stop_source source;
  GenerationRequest request = request_of({1, 2, 3});
  request.stop = source.get_token();
  int seen = 0;
  const GenerationResult result = generator.generate(request, [&](TokenId) {
    if (++seen == 2) {
      source.request_stop();
    }
    return true;
  });
  EXPECT_EQ(result.reason, FinishReason::Cancelled);
  EXPECT_EQ(result.generated_tokens, 2U);
}

TEST(Generator, StaysUsableAfterAnExceptionOfTheSinkOrTheDecoder) {
  FakeDecoder decoder;
  Generator generator(decoder);
  const Answer expected = answer(generator, request_of({1, 2, 3}));
  const auto failing = [](TokenId) -> bool { throw std::runtime_error("sink"); };
  EXPECT_THROW(generator.generate(request_of({1, 2, 4}), failing), std::runtime_error);
  decoder.before_forward = [] { throw Error(ErrorCode::Device, "lost"); };
  EXPECT_THROW(answer(generator, request_of({1, 2, 5})), Error);
  decoder.before_forward = nullptr;
  EXPECT_EQ(decoder.n_tokens(0), generator.cached().size());
  EXPECT_EQ(answer(generator, request_of({1, 2, 3})).tokens, expected.tokens);
}

TEST(ChunkSize, GrowsAndShrinksWithTheSpeed) {
  using std::chrono::milliseconds;
  ChunkSize chunk(0, 512);
  EXPECT_EQ(chunk.size(), 16U);
  chunk.took(64, milliseconds(100));
  EXPECT_EQ(chunk.size(), 128U);
  chunk.took(128, milliseconds(1));
  EXPECT_EQ(chunk.size(), 512U);
  chunk.took(512, milliseconds(60000));
  EXPECT_EQ(chunk.size(), 16U);
}

TEST(ChunkSize, StaysAsGiven) {
  ChunkSize chunk(7, 512);
  chunk.took(7, std::chrono::milliseconds(1));
  EXPECT_EQ(chunk.size(), 7U);
}

}  // namespace
}  // namespace smol::engine
