// Memory under pressure: what is kept, what goes, and what is saved.
#include "engine/kv_space.h"

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/engine_helper.h"
#include "engine/fake_decoder.h"
#include "support/temp_folder.h"

namespace smol::engine {
namespace {

constexpr FakeSpec kShared{.context = 256, .n_slots = 4, .n_blocks = 6, .max_batch = 64};

void feed(FakeDecoder& decoder, KvSpace& space, const KvSpace::Claim& claim,
          std::span<const TokenId> tokens) {
  for (const TokenId token : tokens.subspan(claim.n_tokens)) {
    const model::BatchToken one{token, decoder.n_tokens(claim.slot), claim.slot, false};
    decoder.forward({&one, 1});
    space.advance(claim.slot, {&token, 1});
  }
}

void use(FakeDecoder& decoder, KvSpace& space, std::span<const TokenId> tokens) {
  const KvSpace::Claim claim = space.claim(tokens, true);
  feed(decoder, space, claim, tokens);
  EXPECT_EQ(decoder.tokens(claim.slot), std::vector<TokenId>(tokens.begin(), tokens.end()));
  space.release(claim.slot);
}

TEST(KvSpace, LetsTheLeastRecentlyUsedGoFirst) {
  FakeDecoder decoder(kShared);
  KvSpace space(decoder);
  use(decoder, space, numbers(70, 1));
  use(decoder, space, numbers(70, 2));
  use(decoder, space, numbers(70, 1));
  EXPECT_EQ(decoder.n_free_blocks(), 2U);
  EXPECT_EQ(space.n_available(), 6U);
  EXPECT_TRUE(space.make_room(3));
  EXPECT_EQ(space.reusable(numbers(70, 1)), 69U);
  EXPECT_EQ(space.reusable(numbers(70, 2)), 64U);
  EXPECT_TRUE(space.make_room(4));
  EXPECT_EQ(space.reusable(numbers(70, 2)), 0U);
  EXPECT_TRUE(space.make_room(6));
  EXPECT_EQ(space.reusable(numbers(70, 1)), 0U);
  EXPECT_FALSE(space.make_room(7));
}

TEST(KvSpace, KeepsWhatSequencesAtWorkHold) {
  FakeDecoder decoder(kShared);
  KvSpace space(decoder);
  use(decoder, space, numbers(130, 1));
  const KvSpace::Claim claim = space.claim(numbers(130, 1), true);
  EXPECT_EQ(claim.n_tokens, 129U);
  EXPECT_FALSE(space.make_room(6));
  EXPECT_EQ(decoder.n_tokens(claim.slot), 129U);
  EXPECT_EQ(space.n_in_use(numbers(130, 1)), 2U);
  space.release(claim.slot);
  EXPECT_TRUE(space.make_room(6));
}

void use_as(FakeDecoder& decoder, KvSpace& space, std::span<const TokenId> tokens,
            const std::string& owner) {
  const KvSpace::Claim claim = space.claim(tokens, true, owner);
  feed(decoder, space, claim, tokens);
  space.release(claim.slot);
}

std::vector<TokenId> joined(std::vector<TokenId> tokens, const std::vector<TokenId>& more) {
  tokens.insert(tokens.end(), more.begin(), more.end());
  return tokens;
}

TEST(KvSpace, ForgetsWhatOneOwnerAloneBrought) {
  FakeDecoder decoder({.context = 256, .n_slots = 4, .n_blocks = 12, .max_batch = 64});
  KvSpace space(decoder);
  const std::vector<TokenId> mine = joined(numbers(64, 1), numbers(100, 2));
  const std::vector<TokenId> others = joined(numbers(64, 1), numbers(100, 3));
  use_as(decoder, space, mine, "me");
  use_as(decoder, space, others, "you");
  EXPECT_EQ(space.reusable(mine), mine.size() - 1);
  space.forget("me");
  EXPECT_EQ(space.reusable(mine), 64U);
  EXPECT_EQ(space.reusable(others), others.size() - 1);
  space.forget("you");
  EXPECT_EQ(space.reusable(others), 0U);
  EXPECT_EQ(decoder.n_free_blocks(), decoder.n_blocks());
}

TEST(KvSpace, DoesNotForgetWhatIsInUse) {
  FakeDecoder decoder({.context = 256, .n_slots = 4, .n_blocks = 12, .max_batch = 64});
  KvSpace space(decoder);
  const std::vector<TokenId> tokens = numbers(100, 1);
  const KvSpace::Claim claim = space.claim(tokens, true, "me");
  feed(decoder, space, claim, tokens);
  space.forget("me");
  EXPECT_EQ(decoder.tokens(claim.slot), tokens);
  space.release(claim.slot);
  space.forget("me");
  EXPECT_EQ(decoder.n_free_blocks(), decoder.n_blocks());
}

TEST(KvSpace, SharesFullBlocksWithEverySlot) {
  FakeDecoder decoder(kShared);
  KvSpace space(decoder);
  std::vector<KvSpace::Claim> claims;
  for (TokenId last = 0; last < 3; ++last) {
    std::vector<TokenId> tokens = numbers(130, 1);
    tokens.push_back(last);
    claims.push_back(space.claim(tokens, true));
    feed(decoder, space, claims.back(), tokens);
    EXPECT_EQ(decoder.tokens(claims.back().slot), tokens);
  }
  EXPECT_EQ(claims[1].n_tokens, 128U);
  EXPECT_EQ(decoder.n_free_blocks(), 1U);
  for (const KvSpace::Claim& claim : claims) {
    space.release(claim.slot);
  }
}

TEST(KvSpace, TakesTheSlotThatLosesLeast) {
  FakeDecoder decoder(kShared);
  KvSpace space(decoder);
  std::vector<TokenId> other = numbers(30, 1);
  other.insert(other.end(), {1, 2, 3});
  const KvSpace::Claim long_one = space.claim(other, true);
  feed(decoder, space, long_one, other);
  const KvSpace::Claim short_one = space.claim(numbers(30, 1), true);
  feed(decoder, space, short_one, numbers(30, 1));
  space.release(long_one.slot);
  space.release(short_one.slot);
  std::vector<TokenId> wanted = numbers(30, 1);
  wanted.insert(wanted.end(), {7, 8});
  EXPECT_EQ(space.claim(wanted, true).slot, short_one.slot);
}

TEST(Memory, SequencesThatTogetherNeedTooMuchAnswerOneAfterTheOther) {
  FakeDecoder decoder({.context = 256, .n_slots = 4, .n_blocks = 5, .max_batch = 64});
  Engine engine(decoder, {.max_running = 3, .prefill_chunk = 16});
  std::vector<Request> requests;
  std::vector<Submitted> submitted;
  for (std::size_t i = 0; i < 5; ++i) {
    requests.push_back(request_of(numbers(40, i), 180, i));
    submitted.push_back(submit(engine, requests.back()));
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(submitted[i].tokens(), plain_answer({.context = 256}, requests[i])) << i;
  }
}

TEST(Memory, APausedSequenceIsNotComputedAgainEvenIfOthersMustWait) {
  FakeDecoder decoder({.context = 256, .n_slots = 4, .n_blocks = 4, .max_batch = 64});
  Gate gate;
  decoder.before_forward = [&] { gate.pass(); };
  Engine engine(decoder, {.max_running = 2, .prefill_chunk = 16});
  const Request request = request_of(numbers(150), 60);
  const Submitted paused = submit(engine, request);
  gate.allow(15);
  gate.wait_for_step();
  paused.ticket->pause();
  gate.allow(1);
  paused.sink->wait_for(Phase::Paused);
  const Request large = request_of(numbers(200, 2), 20);
  const Submitted waiting = submit(engine, large);
  gate.open();
  paused.ticket->resume();
  EXPECT_EQ(paused.tokens(), plain_answer({.context = 256}, request));
  EXPECT_EQ(waiting.tokens(), plain_answer({.context = 256}, large));
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class SavedCache : public ::testing::Test {
 protected:
  SavedCache() {
    FakeDecoder decoder(kSpec);
    Engine engine(decoder, kOptions);
    submit(engine, request_of(numbers(200, 1))).finished();
    std::vector<TokenId> other = numbers(100, 1);
    const std::vector<TokenId> end = numbers(100, 2);
    other.insert(other.end(), end.begin(), end.end());
    submit(engine, request_of(other)).finished();
    n_saved_ = *engine.save_cache(path_, {.nobodys = true});
  }

  static constexpr FakeSpec kSpec{.context = 512, .n_slots = 2, .n_blocks = 16, .max_batch = 64};
  static constexpr EngineOptions kOptions{.model_fingerprint = 5};

  void expect_refused(const std::string& bytes, const std::string& why) {
    write_bytes(path_, bytes);
    FakeDecoder decoder(kSpec);
    Engine engine(decoder, kOptions);
    EXPECT_THROW(engine.restore_cache(path_), Error) << why;
    EXPECT_EQ(decoder.n_free_blocks(), decoder.n_blocks()) << why;
  }

  test::TempFolder folder_;
  std::filesystem::path path_ = folder_.path() / "cache";
  std::size_t n_saved_ = 0;
};

TEST_F(SavedCache, GivesTheSameAnswersInAnotherEngine) {
  FakeDecoder decoder(kSpec);
  Engine engine(decoder, kOptions);
  EXPECT_EQ(n_saved_, 5U * 64U);
  EXPECT_EQ(engine.restore_cache(path_), n_saved_);
  const Request request = request_of(numbers(200, 1));
  const Submitted found = submit(engine, request);
  EXPECT_EQ(found.finished().cached_tokens, 192U);
  EXPECT_EQ(found.tokens(), plain_answer(kSpec, request));
}

TEST_F(SavedCache, HoldsOnlyThePromptsThatWereAskedFor) {
  FakeDecoder decoder(kSpec);
  Engine engine(decoder, kOptions);
  engine.restore_cache(path_);
  const std::vector<OwnedPrompt> prompts{{"", numbers(130, 1)}};
  EXPECT_EQ(engine.save_cache(path_, {.prompts = prompts}), 128U);
}

TEST_F(SavedCache, HoldsNoMoreThanItMay) {
  FakeDecoder decoder(kSpec);
  Engine engine(decoder, kOptions);
  engine.restore_cache(path_);
  const std::size_t size = bytes_of(path_).size();
  const std::vector<OwnedPrompt> prompts{{"", numbers(200, 1)}};
  EXPECT_EQ(engine.save_cache(path_, {.prompts = prompts, .nobodys = true, .max_bytes = size}),
            5U * 64U);
  EXPECT_EQ(engine.save_cache(path_, {.prompts = prompts, .nobodys = true, .max_bytes = size - 1}),
            4U * 64U);
  EXPECT_LT(bytes_of(path_).size(), size);
  EXPECT_EQ(engine.save_cache(path_, {.nobodys = true, .max_bytes = 0}), 0U);
  FakeDecoder other(kSpec);
  EXPECT_EQ(Engine(other, kOptions).restore_cache(path_), 0U);
}

TEST_F(SavedCache, StaysAsItWasWhereThereIsNoTimeForAnother) {
  const std::string before = bytes_of(path_);
  FakeDecoder decoder(kSpec);
  Engine engine(decoder, kOptions);
  submit(engine, request_of(numbers(400, 7))).finished();
  int n_asked = 0;
  EXPECT_EQ(engine.save_cache(path_, {.nobodys = true, .goes_on = [&] { return ++n_asked < 2; }}),
            std::nullopt);
  EXPECT_EQ(n_asked, 2);
  EXPECT_EQ(bytes_of(path_), before);
}

TEST_F(SavedCache, GivesEachOwnerWhatItsPromptBeginsWith) {
  FakeDecoder decoder(kSpec);
  Engine engine(decoder, kOptions);
  const std::vector<OwnedPrompt> prompts{{"me", numbers(150, 1)}, {"you", numbers(64, 1)}};
  EXPECT_EQ(engine.restore_cache(path_, prompts), 128U);
  EXPECT_EQ(engine.save_cache(path_, {.nobodys = true}), 0U);
  engine.forget("me");
  EXPECT_EQ(engine.reusable(numbers(200, 1)), 64U);
  engine.forget("you");
  EXPECT_EQ(engine.reusable(numbers(200, 1)), 0U);
}

TEST_F(SavedCache, LeavesOutWhatAnOwnerBroughtUnlessItIsAskedFor) {
  FakeDecoder decoder(kSpec);
  Engine engine(decoder, kOptions);
  Request owned = request_of(numbers(200, 4));
  owned.owner = "me";
  submit(engine, owned).finished();
  submit(engine, request_of(numbers(70, 5))).finished();
  EXPECT_EQ(engine.save_cache(path_, {.nobodys = true}), 64U);
  const std::vector<OwnedPrompt> prompts{{"me", numbers(200, 4)}};
  EXPECT_EQ(engine.save_cache(path_, {.prompts = prompts}), 192U);
}

TEST_F(SavedCache, IsKeptAsFarAsThereIsRoom) {
  FakeSpec spec = kSpec;
  spec.n_blocks = 3;
  spec.context = 192;
  FakeDecoder decoder(spec);
  Engine engine(decoder, kOptions);
  EXPECT_EQ(engine.restore_cache(path_), 192U);
  const Request request = request_of(numbers(100, 1));
  EXPECT_EQ(submit(engine, request).tokens(), plain_answer(spec, request));
}

TEST_F(SavedCache, IsRefusedUnlessItIsWhole) {
  const std::string bytes = bytes_of(path_);
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{56}, bytes.size() / 2,
                                 bytes.size() - 8, bytes.size() - 1}) {
    expect_refused(bytes.substr(0, size), "cut to " + std::to_string(size));
  }
  expect_refused(bytes + "x", "longer");
  for (std::size_t at = 0; at < bytes.size(); at += bytes.size() / 50) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    expect_refused(changed, "changed at " + std::to_string(at));
  }
}

TEST_F(SavedCache, IsRefusedForAnotherModelOrSetting) {
  FakeDecoder decoder(kSpec);
  Engine engine(decoder, {.model_fingerprint = 6});
  EXPECT_THROW(engine.restore_cache(path_), Error);
  EXPECT_THROW(engine.restore_cache(folder_.path() / "none"), Error);
}

}  // namespace
}  // namespace smol::engine
