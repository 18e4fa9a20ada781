#include "engine/engine.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/engine_helper.h"
#include "engine/fake_decoder.h"

namespace smol::engine {
namespace {

constexpr FakeSpec kSmall{};

std::string message_of(Engine& engine, const Request& request) {
  try {
    submit(engine, request);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::BadInput);
    return error.what();
  }
  return "no exception";
}

TEST(Engine, AnswersAsOneSequenceTokenByTokenWould) {
  FakeDecoder decoder(kSmall);
  Engine engine(decoder, {});
  const Request request = request_of(numbers(20));
  EXPECT_EQ(submit(engine, request).tokens(), plain_answer(kSmall, request));
}

TEST(Engine, AnswersManyAtOnceAsEachAlone) {
  FakeDecoder decoder(kLarge);
  Engine engine(decoder, {.max_running = 5, .prefill_chunk = 24});
  std::vector<Request> requests;
  std::vector<Submitted> submitted;
  for (std::size_t i = 0; i < 20; ++i) {
    // Some share their beginning, some are longer than a block.
    std::vector<TokenId> prompt = numbers(70 + 9 * (i % 7), i % 3);
    prompt.push_back(static_cast<TokenId>(i));
    requests.push_back(request_of(prompt, 5 + i * 3, i));
    requests.back().client = std::to_string(i % 4);
    submitted.push_back(submit(engine, requests.back()));
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(submitted[i].tokens(), plain_answer(kLarge, requests[i])) << i;
  }
  EXPECT_EQ(engine.stats().finished, 20U);
  EXPECT_EQ(engine.stats().running, 0U);
}

TEST(Engine, GivesTheSameAnswerForEveryChunkSize) {
  const Request request = request_of(numbers(40));
  for (const std::size_t chunk : {1U, 7U, 16U, 512U, 0U}) {
    FakeDecoder decoder(kSmall);
    Engine engine(decoder, {.prefill_chunk = chunk});
    EXPECT_EQ(submit(engine, request).tokens(), plain_answer(kSmall, request)) << chunk;
  }
}

TEST(Engine, GivesTheSameAnswerWithAndWithoutReuse) {
  FakeDecoder decoder({.context = 512, .max_batch = 64});
  Engine engine(decoder, {});
  std::vector<TokenId> prompt = numbers(200);
  submit(engine, request_of(prompt)).finished();
  for (const std::size_t kept : {199U, 130U, 70U, 64U, 20U, 1U}) {
    prompt[kept] = (prompt[kept] + 1) % 50;
    const Request request = request_of(prompt);
    const Submitted again = submit(engine, request);
    EXPECT_EQ(again.tokens(), plain_answer(kLarge, request)) << kept;
    EXPECT_EQ(again.finished().cached_tokens, kept);
  }
  EXPECT_GT(engine.stats().cached_tokens, 0U);
}

TEST(Engine, ComputesTheLastTokenOfAKnownPromptAgain) {
  FakeDecoder decoder(kLarge);
  Engine engine(decoder, {});
  submit(engine, request_of(numbers(128))).finished();
  EXPECT_EQ(submit(engine, request_of(numbers(128))).finished().cached_tokens, 127U);
}

TEST(Engine, ReusesItsOwnAnswerInTheNextTurn) {
  FakeDecoder decoder(kSmall);
  Engine engine(decoder, {});
  const Submitted first = submit(engine, request_of({1, 2, 3}));
  std::vector<TokenId> next{1, 2, 3};
  next.insert(next.end(), first.tokens().begin(), first.tokens().end());
  next.push_back(8);
  // The last token of an answer cut by max_tokens was picked but never computed.
  EXPECT_EQ(engine.reusable(next), 3 + first.tokens().size() - 1);
}

TEST(Engine, KeepsNothingOfAPromptThatMustNotBeCached) {
  FakeDecoder decoder(kLarge);
  Engine engine(decoder, {});
  Request request = request_of(numbers(200));
  request.cache_prompt = false;
  submit(engine, request).finished();
  EXPECT_EQ(engine.reusable(request.prompt), 0U);
  EXPECT_EQ(decoder.n_free_blocks(), decoder.n_blocks());
}

TEST(Engine, SharesThePromptOfASequenceThatStillRuns) {
  FakeDecoder decoder(kLarge);
  Gate gate;
  decoder.before_forward = [&] { gate.pass(); };
  Engine engine(decoder, {.max_running = 2, .prefill_chunk = 64});
  const Submitted first = submit(engine, request_of(numbers(200), 100));
  gate.allow(4);
  gate.wait_for_step();
  const Submitted second = submit(engine, request_of(numbers(150), 5));
  gate.open();
  EXPECT_EQ(second.finished().cached_tokens, 128U);
  EXPECT_EQ(second.tokens(), plain_answer(kLarge, request_of(numbers(150), 5)));
  EXPECT_EQ(first.tokens(), plain_answer(kLarge, request_of(numbers(200), 100)));
}

TEST(Engine, CountsThePromptAndTheAnswer) {
  FakeDecoder decoder(kSmall);
  Engine engine(decoder, {});
  const Result result = submit(engine, request_of({1, 2, 3}, 4)).finished();
  EXPECT_EQ(result.reason, FinishReason::MaxTokens);
  EXPECT_EQ(result.prompt_tokens, 3U);
  EXPECT_EQ(result.generated_tokens, 4U);
  EXPECT_EQ(result.seed, 3U);
  EXPECT_EQ(engine.stats().computed_tokens, 6U);
}

TEST(Engine, StopsAtATokenThatEndsTheTurnAndDoesNotShowIt) {
  FakeDecoder decoder(kSmall);
  Engine engine(decoder, {});
  Request request = request_of({1, 2, 3});
  const std::vector<TokenId> whole = plain_answer(kSmall, request);
  request.ends_turn = [&](TokenId token) { return token == whole[4]; };
  const Submitted found = submit(engine, request);
  EXPECT_EQ(found.finished().reason, FinishReason::EndOfTurn);
  EXPECT_EQ(found.tokens(), std::vector<TokenId>(whole.begin(), whole.begin() + 4));
}

TEST(Engine, StopsWhenTheSinkSaysSo) {
  FakeDecoder decoder(kSmall);
  Engine engine(decoder, {});
  const Result result = submit(engine, request_of({1}), 3).finished();
  EXPECT_EQ(result.reason, FinishReason::SinkStopped);
  EXPECT_EQ(result.generated_tokens, 3U);
}

TEST(Engine, StopsWhereTheContextEnds) {
  FakeDecoder decoder({.context = 8});
  Engine engine(decoder, {});
  const Submitted found = submit(engine, request_of(numbers(6), 0));
  EXPECT_EQ(found.finished().reason, FinishReason::ContextFull);
  EXPECT_EQ(found.tokens().size(), 3U);  // two are computed, the third is only picked
  EXPECT_EQ(submit(engine, request_of(numbers(8), 0)).tokens().size(), 1U);
}

TEST(Engine, RefusesAPromptLongerThanTheContextWithBothCounts) {
  FakeDecoder decoder({.context = 8});
  Engine engine(decoder, {});
  EXPECT_EQ(message_of(engine, request_of(numbers(9))),
            "prompt: expected at most 8 tokens (the context), found 9");
}

TEST(Engine, RefusesBadRequestsAtOnce) {
  FakeDecoder decoder(kSmall);
  Engine engine(decoder, {});
  EXPECT_EQ(message_of(engine, request_of({})), "prompt: expected at least one token, found none");
  EXPECT_EQ(message_of(engine, request_of({1, 50})),
            "prompt: expected token ids below 50, found 50");
  EXPECT_EQ(message_of(engine, request_of({-1})), "prompt: expected token ids below 50, found -1");
  Request request = request_of({1});
  request.sampling.top_p = 1.5;
  EXPECT_EQ(message_of(engine, request), "top_p: expected more than 0 and at most 1, found 1.5");
}

TEST(Engine, ReportsHowFarThePromptIsRead) {
  FakeDecoder decoder(kSmall);
  Engine engine(decoder, {.prefill_chunk = 16});
  const Submitted found = submit(engine, request_of(numbers(40)));
  found.finished();
  std::vector<std::size_t> read;
  for (const Progress& progress : found.sink->progress()) {
    if (progress.phase == Phase::Reading) {
      read.push_back(progress.read_tokens);
    }
  }
  EXPECT_EQ(read, (std::vector<std::size_t>{0, 16, 32}));
  EXPECT_EQ(found.sink->progress().back().phase, Phase::Finished);
  EXPECT_EQ(found.ticket->progress().generated_tokens, 10U);
}

TEST(Engine, RefusesMoreThanMayWait) {
  FakeDecoder decoder(kSmall);
  Gate gate;
  decoder.before_forward = [&] { gate.pass(); };
  Engine engine(decoder, {.max_waiting = 2});
  const Submitted running = submit(engine, request_of({1}));
  gate.wait_for_step();
  const Submitted second = submit(engine, request_of({2}));
  const Submitted third = submit(engine, request_of({3}));
  try {
    submit(engine, request_of({4}));
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Exhausted);
  }
  gate.open();
  EXPECT_EQ(third.tokens().size(), 10U);
  EXPECT_EQ(submit(engine, request_of({4})).tokens().size(), 10U);
}

TEST(Engine, TakesNobodysSecondRequestBeforeAnothersFirst) {
  FakeDecoder decoder(kSmall);
  Gate gate;
  decoder.before_forward = [&] { gate.pass(); };
  Engine engine(decoder, {});
  std::vector<Submitted> submitted;
  for (const char* client : {"a", "a", "a", "b", "b", "c"}) {
    Request request = request_of({1}, 1);
    request.client = client;
    submitted.push_back(submit(engine, request));
  }
  gate.wait_for_step();
  gate.allow(1);
  submitted[0].finished();
  gate.wait_for_step();
  const auto ahead = [&](std::size_t i) { return submitted[i].ticket->progress().ahead; };
  EXPECT_EQ(submitted[3].ticket->progress().phase, Phase::Reading);
  EXPECT_EQ(ahead(5), 0U);
  EXPECT_EQ(ahead(1), 1U);
  EXPECT_EQ(ahead(2), 2U);
  EXPECT_EQ(ahead(4), 3U);
  gate.open();
  for (const Submitted& one : submitted) {
    one.finished();
  }
}

TEST(Engine, AStepThatFailsEndsItsRequestsAndNoOther) {
  FakeDecoder decoder({.context = 512});
  bool fails = true;
  decoder.before_forward = [&] {
    if (fails && decoder.batches.size() == 3) {
      fails = false;
      throw std::runtime_error("no device");
    }
  };
  Engine engine(decoder, {.prefill_chunk = 16});
  const Submitted failed = submit(engine, request_of(numbers(100)));
  EXPECT_THROW(failed.finished(), Error);
  EXPECT_EQ(engine.stats().failed, 1U);
  const Request request = request_of(numbers(100));
  const Submitted found = submit(engine, request);
  EXPECT_EQ(found.tokens(), plain_answer({.context = 512}, request));
  EXPECT_EQ(found.finished().cached_tokens, 32U);
}

TEST(Engine, RequestsThatHaveNotFinishedEndWithIt) {
  FakeDecoder decoder({.context = 512});
  std::vector<Submitted> submitted;
  {
    Engine engine(decoder, {});
    submitted.push_back(submit(engine, request_of(numbers(5), 400)));
    submitted.push_back(submit(engine, request_of(numbers(5), 400)));
  }
  for (const Submitted& one : submitted) {
    const FinishReason reason = one.finished().reason;
    EXPECT_TRUE(reason == FinishReason::Cancelled || reason == FinishReason::MaxTokens);
    one.ticket->cancel();  // nobody hears it any more
  }
}

TEST(Engine, ReadsAPromptAhead) {
  FakeDecoder decoder(kLarge);
  Engine engine(decoder, {});
  Request ahead = request_of(numbers(100));
  ahead.task = Task::Read;
  const Result result = submit(engine, ahead).finished();
  EXPECT_EQ(result.generated_tokens, 0U);
  std::vector<TokenId> prompt = numbers(100);
  prompt.push_back(7);
  EXPECT_EQ(engine.reusable(prompt), 100U);
}

TEST(Engine, EmbedsAsTheMeanOfAllHiddenStates) {
  FakeDecoder decoder(kLarge);
  Engine engine(decoder, {.max_running = 3, .prefill_chunk = 7});
  FakeDecoder plain(kLarge);
  std::vector<double> sum(4);
  std::vector<float> hidden(4);
  for (const TokenId token : numbers(90)) {
    const model::BatchToken one{token, plain.n_tokens(0), 0, false};
    plain.forward({&one, 1});
    plain.hidden_state(0, hidden);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += hidden[i];
    }
  }
  const double length =
      std::sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2] + sum[3] * sum[3]);
  Request request = request_of(numbers(90));
  submit(engine, request).finished();  // what is cached has no hidden states
  request.task = Task::Embed;
  const std::vector<float> found = submit(engine, request).finished().embedding;
  ASSERT_EQ(found.size(), 4U);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    EXPECT_FLOAT_EQ(found[i], static_cast<float>(sum[i] / length));
  }
}

}  // namespace
}  // namespace smol::engine
