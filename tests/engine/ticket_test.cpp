// What a ticket can ask of its request, at any time: to end, to wait, to go on.
#include "engine/ticket.h"

#include <memory>

#include <gtest/gtest.h>

#include "engine/engine_helper.h"
#include "engine/fake_decoder.h"

namespace smol::engine {
namespace {

TEST(Engine, CancelsWhileThePromptIsRead) {
  FakeDecoder decoder({.context = 512});
  Gate gate;
  decoder.before_forward = [&] { gate.pass(); };
  Engine engine(decoder, {.prefill_chunk = 16});
  const Submitted found = submit(engine, request_of(numbers(400)));
  gate.allow(2);
  gate.wait_for_step();
  found.ticket->cancel();
  gate.open();
  EXPECT_EQ(found.finished().reason, FinishReason::Cancelled);
  EXPECT_EQ(found.finished().generated_tokens, 0U);
  EXPECT_EQ(decoder.n_given_up, 1U);
  EXPECT_EQ(engine.stats().computed_tokens, 32U);
  EXPECT_EQ(engine.stats().cancelled, 1U);
  // What was read is not read again.
  EXPECT_EQ(engine.reusable(numbers(400)), 32U);
}

TEST(Engine, GivesUpAStepWhoseRequestsAreAllCancelled) {
  FakeDecoder decoder(kLarge);
  Gate gate;
  decoder.before_forward = [&] { gate.pass(); };
  Engine engine(decoder, {.max_running = 2, .prefill_chunk = 16});
  const Submitted first = submit(engine, request_of(numbers(200)));
  const Submitted second = submit(engine, request_of(numbers(200, 1)));
  gate.allow(3);
  gate.wait_for_step();
  first.ticket->cancel();
  gate.allow(1);
  EXPECT_EQ(first.finished().reason, FinishReason::Cancelled);
  gate.wait_for_step();
  EXPECT_EQ(decoder.n_given_up, 0U);  // the other one needed that step
  second.ticket->cancel();
  gate.allow(1);
  EXPECT_EQ(second.finished().reason, FinishReason::Cancelled);
  gate.open();
  const Request request = request_of(numbers(200, 1));
  EXPECT_EQ(submit(engine, request).tokens(), plain_answer(kLarge, request));
  EXPECT_EQ(decoder.n_given_up, 1U);
}

TEST(Engine, CancelsWhileItWritesAndWhileItWaits) {
  FakeDecoder decoder({.context = 512});
  Gate gate;
  decoder.before_forward = [&] { gate.pass(); };
  Engine engine(decoder, {.speculate = false});
  const Submitted writing = submit(engine, request_of(numbers(5), 400));
  const Submitted waiting = submit(engine, request_of(numbers(5), 400));
  gate.allow(3);
  gate.wait_for_step();
  writing.ticket->cancel();
  waiting.ticket->cancel();
  gate.allow(1);
  EXPECT_EQ(writing.finished().reason, FinishReason::Cancelled);
  EXPECT_EQ(writing.finished().generated_tokens, 3U);
  EXPECT_EQ(waiting.finished().reason, FinishReason::Cancelled);
  EXPECT_EQ(waiting.finished().generated_tokens, 0U);
  gate.open();
  EXPECT_EQ(submit(engine, request_of(numbers(5))).tokens().size(), 10U);
}

TEST(Engine, PausesAndGoesOnWithoutComputingAnythingAgain) {
  const FakeSpec spec{.context = 512, .n_slots = 2};
  FakeDecoder decoder(spec);
  Gate gate;
  decoder.before_forward = [&] { gate.pass(); };
  Engine engine(decoder, {.prefill_chunk = 16, .speculate = false});
  const Request request = request_of(numbers(100), 40);
  const Submitted first = submit(engine, request);
  for (const std::size_t n_steps : {3U, 17U}) {  // in the prompt, in the answer
    gate.allow(n_steps);
    gate.wait_for_step();
    first.ticket->pause();
    gate.allow(1);
    first.sink->wait_for(Phase::Paused);
    // Its place is another's meanwhile.
    gate.allow(20);
    EXPECT_EQ(submit(engine, request_of(numbers(7, n_steps), 20)).tokens().size(), 20U);
    first.ticket->resume();
  }
  gate.open();
  EXPECT_EQ(first.tokens(), plain_answer(spec, request));
  EXPECT_EQ(engine.stats().computed_tokens, 100U + 39U + 2U * (7U + 19U));
}

TEST(Engine, GivesUpAStepThatOnlyReadsPromptsOfPausedRequests) {
  FakeDecoder decoder(kLarge);
  Gate gate;
  decoder.before_forward = [&] { gate.pass(); };
  Engine engine(decoder, {.max_running = 2, .prefill_chunk = 16, .speculate = false});
  const Request request = request_of(numbers(100));
  const Submitted first = submit(engine, request);
  gate.allow(2);
  gate.wait_for_step();
  first.ticket->pause();
  gate.allow(1);
  first.sink->wait_for(Phase::Paused);
  EXPECT_EQ(engine.stats().computed_tokens, 32U);
  const Submitted second = submit(engine, request_of(numbers(5, 1), 30));
  gate.wait_for_step();
  first.ticket->resume();
  gate.allow(1);
  gate.wait_for_step();
  first.ticket->pause();  // the other one needs that step
  gate.allow(1);
  first.sink->wait_for(Phase::Paused);
  gate.wait_for_step();
  second.ticket->pause();  // the step of an answer ends with its token
  gate.open();
  second.sink->wait_for(Phase::Paused);
  EXPECT_EQ(decoder.n_given_up, 1U);
  first.ticket->resume();
  second.ticket->resume();
  EXPECT_EQ(first.tokens(), plain_answer(kLarge, request));
  EXPECT_EQ(second.tokens().size(), 30U);
  EXPECT_EQ(engine.stats().computed_tokens, 100U + 9U + 5U + 29U);
}

TEST(Engine, APauseTakenBackWhileItsStepIsGivenUpLosesNothing) {
  FakeDecoder decoder(kLarge);
  Gate gate;
  std::shared_ptr<Ticket> ticket;
  std::size_t n_steps = 0;
  decoder.before_forward = [&] {
    gate.pass();
    if (++n_steps % 2 == 0) {
      ticket->pause();
    }
  };
  decoder.during_forward = [&] { ticket->resume(); };
  Engine engine(decoder, {.prefill_chunk = 16, .speculate = false});
  const Request request = request_of(numbers(100));
  const Submitted found = submit(engine, request);
  ticket = found.ticket;
  gate.open();
  EXPECT_EQ(found.tokens(), plain_answer(kLarge, request));
  EXPECT_EQ(decoder.n_given_up, 6U);
  EXPECT_EQ(engine.stats().computed_tokens, 100U + 9U);
}

TEST(Engine, APausedRequestCanBeCancelled) {
  FakeDecoder decoder({.context = 512, .n_slots = 2});
  Gate gate;
  decoder.before_forward = [&] { gate.pass(); };
  Engine engine(decoder, {});
  const Submitted found = submit(engine, request_of(numbers(20), 400));
  gate.wait_for_step();
  found.ticket->pause();
  gate.open();
  found.sink->wait_for(Phase::Paused);
  EXPECT_EQ(engine.stats().paused, 1U);
  found.ticket->cancel();
  EXPECT_EQ(found.finished().reason, FinishReason::Cancelled);
}

}  // namespace
}  // namespace smol::engine
