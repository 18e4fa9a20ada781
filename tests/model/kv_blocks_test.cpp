// Blocks of the key/value cache as a decoder hands them out: counted, shared, copied, saved.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/session.h"
#include "support/tiny_model.h"

namespace smol::model {
namespace {

using test::TinyFile;
using test::TinySpec;

constexpr std::size_t kVocabulary = 40;

DecoderOptions options_of(std::size_t n_slots, std::size_t n_blocks, KvCacheType type) {
  DecoderOptions options;
  options.kv_type = type;
  options.context = 256;
  options.n_slots = n_slots;
  options.max_batch = 64;
  options.n_blocks = n_blocks;
  return options;
}

// Two slots or more on one model, with as many blocks as asked for.
class KvBlocks : public ::testing::TestWithParam<KvCacheType> {
 protected:
  Session& open(std::size_t n_slots, std::size_t n_blocks) {
    session_.emplace(tiny_.file(), options_of(n_slots, n_blocks, GetParam()));
    return *session_;
  }

  Decoder& decoder() { return session_->decoder(); }

 private:
  TinyFile tiny_{TinySpec{}};
  std::optional<Session> session_;
};

std::vector<BlockId> copy_of(std::span<const BlockId> blocks) {
  return {blocks.begin(), blocks.end()};
}

TEST_P(KvBlocks, SlotsDrawFromOneBudget) {
  Session& session = open(3, 4);
  const std::vector<TokenId> ids = some_ids(200, kVocabulary);
  EXPECT_EQ(decoder().n_blocks(), 4U);
  EXPECT_EQ(decoder().n_free_blocks(), 4U);
  EXPECT_EQ(decoder().blocks_needed(0, 0), 0U);
  EXPECT_EQ(decoder().blocks_needed(0, 200), 4U);
  session.append(ids, 64, 0);
  EXPECT_EQ(decoder().n_free_blocks(), 0U);
  EXPECT_EQ(decoder().blocks_needed(0, 56), 0U);
  EXPECT_EQ(decoder().blocks_needed(0, 57), 1U);
  EXPECT_EQ(decoder().blocks_needed(1, 1), 1U);
  decoder().truncate(0, 0);
  EXPECT_EQ(decoder().n_free_blocks(), 4U);
  for (const SlotId slot : {0U, 1U, 2U}) {
    session.append(std::span(ids).first(10), 10, slot);
  }
  EXPECT_EQ(decoder().n_free_blocks(), 1U);
}

TEST_P(KvBlocks, WithoutABudgetEverySlotHasRoomForItsContext) {
  open(3, 0);
  EXPECT_EQ(decoder().n_blocks(), 12U);
}

TEST_P(KvBlocks, OnlyFullBlocksAreHandedOut) {
  Session& session = open(1, 0);
  session.append(some_ids(127, kVocabulary), 64);
  EXPECT_EQ(decoder().blocks(0).size(), 1U);
  session.append(some_ids(1, kVocabulary), 1);
  EXPECT_EQ(decoder().blocks(0).size(), 2U);
  decoder().truncate(0, 127);
  EXPECT_EQ(decoder().blocks(0).size(), 1U);
}

TEST_P(KvBlocks, AttachedBlocksGiveTheSameBits) {
  Session& session = open(2, 0);
  const std::vector<TokenId> ids = some_ids(150, kVocabulary);
  const std::vector<float> expected = session.append(ids, 64, 0);
  decoder().attach(1, decoder().blocks(0));
  EXPECT_EQ(decoder().n_tokens(1), 128U);
  EXPECT_EQ(decoder().n_free_blocks(), 8U - 3U);
  const std::vector<float> rest = session.append(std::span(ids).subspan(128), 7, 1);
  EXPECT_TRUE(std::ranges::equal(rest, std::span(expected).subspan(128 * kVocabulary)));
  EXPECT_EQ(decoder().n_free_blocks(), 8U - 4U);
}

TEST_P(KvBlocks, ABlockIsFreeWhenNobodyHoldsIt) {
  Session& session = open(2, 4);
  session.append(some_ids(64, kVocabulary), 64, 0);
  const BlockId block = decoder().blocks(0)[0];
  decoder().retain(block);
  decoder().attach(1, std::vector{block});
  decoder().truncate(0, 0);
  EXPECT_EQ(decoder().n_free_blocks(), 3U);
  decoder().truncate(1, 0);
  EXPECT_EQ(decoder().n_free_blocks(), 3U);
  decoder().release(block);
  EXPECT_EQ(decoder().n_free_blocks(), 4U);
}

TEST_P(KvBlocks, ASlotThatGoesOnInsideASharedBlockWritesIntoItsOwnCopy) {
  Session& session = open(2, 0);
  const std::vector<TokenId> ids = some_ids(128, kVocabulary);
  const std::vector<float> expected = session.append(ids, 64, 0);
  decoder().attach(1, decoder().blocks(0));
  decoder().truncate(1, 100);
  EXPECT_EQ(decoder().blocks_needed(1, 28), 1U);
  EXPECT_EQ(decoder().blocks_needed(1, 29), 2U);
  session.append(std::vector<TokenId>(28, 3), 28, 1);
  EXPECT_NE(decoder().blocks(1)[1], decoder().blocks(0)[1]);
  EXPECT_EQ(decoder().blocks(1)[0], decoder().blocks(0)[0]);

  // Neither of them sees what the other wrote.
  decoder().truncate(1, 100);
  EXPECT_EQ(decoder().blocks_needed(1, 28), 0U);
  const std::vector<float> again = session.append(std::span(ids).subspan(100), 28, 1);
  EXPECT_TRUE(std::ranges::equal(again, std::span(expected).subspan(100 * kVocabulary)));
  decoder().truncate(1, 0);
  decoder().attach(1, decoder().blocks(0));
  EXPECT_EQ(session.append(some_ids(5, kVocabulary), 5, 1),
            session.append(some_ids(5, kVocabulary), 5, 0));
}

TEST_P(KvBlocks, SavedBlocksGiveTheSameBitsInAnotherDecoder) {
  const std::vector<TokenId> ids = some_ids(140, kVocabulary);
  Session& first = open(1, 0);
  const std::vector<float> expected = first.append(ids, 64);
  std::vector<std::vector<std::byte>> saved;
  for (const BlockId block : decoder().blocks(0)) {
    saved.emplace_back(kv_block_bytes(first.config(), GetParam()));
    decoder().save_block(block, saved.back());
  }

  Session& second = open(1, 0);
  std::vector<BlockId> loaded;
  loaded.reserve(saved.size());
  for (const std::vector<std::byte>& bytes : saved) {
    loaded.push_back(decoder().load_block(bytes).value());
  }
  decoder().attach(0, loaded);
  std::ranges::for_each(loaded, [&](BlockId block) { decoder().release(block); });
  const std::vector<float> rest = second.append(std::span(ids).subspan(128), 5);
  EXPECT_TRUE(std::ranges::equal(rest, std::span(expected).subspan(128 * kVocabulary)));
  decoder().truncate(0, 0);
  EXPECT_EQ(decoder().n_free_blocks(), decoder().n_blocks());
}

TEST_P(KvBlocks, NoBlockIsLoadedWhereNoneIsFree) {
  Session& session = open(1, 1);
  session.append(some_ids(1, kVocabulary), 1);
  const std::vector<std::byte> bytes(kv_block_bytes(session.config(), GetParam()));
  EXPECT_FALSE(decoder().load_block(bytes).has_value());
  decoder().truncate(0, 0);
  EXPECT_TRUE(decoder().load_block(bytes).has_value());
}

TEST_P(KvBlocks, FreedBlocksHoldNothingOfTheirFormerTokens) {
  Session& session = open(1, 2);
  const std::vector<TokenId> ids = some_ids(100, kVocabulary);
  const std::vector<float> expected = session.append(ids, 64);
  decoder().truncate(0, 0);
  session.append(std::vector<TokenId>(128, 7), 64);
  decoder().truncate(0, 0);
  EXPECT_EQ(session.append(ids, 9), expected);
}

TEST_P(KvBlocks, AttachedBlocksMayComeInAnotherOrderThanTheyWereTaken) {
  Session& session = open(2, 0);
  const std::vector<TokenId> ids = some_ids(130, kVocabulary);
  const std::vector<float> expected = session.append(ids, 64, 0);
  std::vector<BlockId> blocks = copy_of(decoder().blocks(0));
  std::ranges::for_each(blocks, [&](BlockId block) { decoder().retain(block); });
  decoder().truncate(0, 0);
  std::ranges::reverse(blocks);
  decoder().attach(0, blocks);
  decoder().truncate(0, 0);
  std::ranges::reverse(blocks);
  decoder().attach(1, blocks);
  const std::vector<float> rest = session.append(std::span(ids).subspan(128), 2, 1);
  EXPECT_TRUE(std::ranges::equal(rest, std::span(expected).subspan(128 * kVocabulary)));
}

INSTANTIATE_TEST_SUITE_P(Types, KvBlocks,
                         ::testing::Values(KvCacheType::F32, KvCacheType::F16, KvCacheType::Int8));

TEST(KvBlocksDeathTest, StopsWhereABlockIsHeldByNobody) {
  const TinyFile tiny{TinySpec{}};
  Session session(tiny.file(), options_of(1, 0, KvCacheType::F16));
  EXPECT_DEATH(session.decoder().retain(0), "n_references_");
}

TEST(KvBlocksDeathTest, StopsWhereNoBlockIsFree) {
  const TinyFile tiny{TinySpec{}};
  Session session(tiny.file(), options_of(1, 1, KvCacheType::F16));
  EXPECT_DEATH(session.append(some_ids(65, kVocabulary), 64), "n_free_blocks");
}

}  // namespace
}  // namespace smol::model
