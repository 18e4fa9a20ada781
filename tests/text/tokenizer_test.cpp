#include "text/tokenizer.h"

#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/temp_folder.h"
#include "text/tiny_tokenizer.h"

namespace smol::text {
namespace {

using test::tiny;
using test::tiny_document;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Tokenizer, MergesBytesIntoTokens) {
  EXPECT_THAT(tiny().encode("the the"), ElementsAre(257, 258));
  EXPECT_THAT(tiny().encode(""), IsEmpty());
}

TEST(Tokenizer, TakesAWholePieceFromTheVocabularyWithIgnoreMerges) {
  EXPECT_THAT(tiny().encode("xyz"), ElementsAre(test::kUnmerged));
}

TEST(Tokenizer, MergesAWholePieceWithoutIgnoreMerges) {
  Json document = tiny_document();
  document["model"]["ignore_merges"] = false;
  EXPECT_THAT(tiny(document).encode("xyz"), ElementsAre('x', 'y', 'z'));
  EXPECT_THAT(tiny(document).encode("the"), ElementsAre(257));
}

TEST(Tokenizer, ReadsInvalidUtf8AsReplacementCharacters) {
  EXPECT_EQ(tiny().encode("a\xFF"), tiny().encode("a\uFFFD"));
}

TEST(Tokenizer, DropsBytesThatHaveNoToken) {
  Json document = tiny_document();
  document["model"]["vocab"].erase(test::spell('q'));
  EXPECT_THAT(tiny(document).encode("aqb"), ElementsAre('a', 'b'));
}

TEST(Tokenizer, DecodesJoinedBytesAndSkipsUnknownIds) {
  const std::vector<TokenId> ids{0xC3, -7, 0xA9, 9999, 'x', 0xC3};
  EXPECT_EQ(tiny().decode(ids, false), "\u00E9x\uFFFD");
}

TEST(Tokenizer, SkipsOnlySpecialTokensWhenAsked) {
  const std::vector<TokenId> ids{0xC3, test::kImEnd, 0xA9, test::kThink};
  EXPECT_EQ(tiny().decode(ids, true), "\u00E9<think>");
  EXPECT_EQ(tiny().decode(ids, false), "\uFFFD<|im_end|>\uFFFD<think>");
}

TEST(Tokenizer, AnAddedTokensSpellingIsDecodedLikeTheVocabularys) {
  Json document = tiny_document();
  document["added_tokens"].push_back(
      test::added_token(400, "\u00E9", false));  // GPT-2's character for E9
  document["added_tokens"].push_back(test::added_token(401, "  ", false));
  EXPECT_EQ(tiny(document).bytes_of(400), "\xE9");
  EXPECT_EQ(tiny(document).bytes_of(401), "  ");
}

TEST(Tokenizer, PadsABatchOnEitherSide) {
  Json document = tiny_document();
  const std::vector<std::string> texts{"ab", "", "abc"};
  const Tokenizer tokenizer = tiny(document);
  const PaddedBatch left = tokenizer.encode_batch(texts, PaddingSide::Left);
  EXPECT_EQ(left.n_rows, 3U);
  EXPECT_EQ(left.n_cols, 3U);
  EXPECT_THAT(left.ids, ElementsAre(0, 'a', 'b', 0, 0, 0, 'a', 'b', 'c'));
  EXPECT_THAT(left.mask, ElementsAre(0, 1, 1, 0, 0, 0, 1, 1, 1));
  const PaddedBatch right = tokenizer.encode_batch(texts, PaddingSide::Right);
  EXPECT_THAT(right.ids, ElementsAre('a', 'b', 0, 0, 0, 0, 'a', 'b', 'c'));
  EXPECT_THAT(right.mask, ElementsAre(1, 1, 0, 0, 0, 0, 1, 1, 1));
}

TEST(Tokenizer, KnowsItsTokens) {
  const Tokenizer tokenizer = tiny();
  EXPECT_EQ(tokenizer.vocab_size(), 315U);
  EXPECT_EQ(tokenizer.find("<think>"), test::kThink);
  EXPECT_EQ(tokenizer.find(" the"), 258);
  EXPECT_EQ(tokenizer.find("nothing"), std::nullopt);
  EXPECT_TRUE(tokenizer.is_added(test::kThink));
  EXPECT_FALSE(tokenizer.is_special(test::kThink));
  EXPECT_TRUE(tokenizer.is_special(test::kImEnd));
  EXPECT_FALSE(tokenizer.is_added('a'));
  EXPECT_TRUE(tokenizer.ends_turn(test::kImEnd));
  EXPECT_TRUE(tokenizer.ends_turn(test::kEndOfText));
  EXPECT_FALSE(tokenizer.ends_turn(test::kImStart));
  EXPECT_EQ(tokenizer.bos(), std::nullopt);
}

TEST(Tokenizer, ShowsItsPieces) {
  EXPECT_THAT(tiny().pieces("it's 12"), ElementsAre("it", "'s", " ", "12"));
}

class TokenizerFiles : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const Json& document) {
    auto path = folder_.path() / name;
    std::ofstream(path) << document.dump();
    return path;
  }

  smol::test::TempFolder folder_;
};

TEST_F(TokenizerFiles, CompanionsNameTheSpecialTokens) {
  write("tokenizer_config.json", {{"bos_token", nullptr}, {"eos_token", "<|im_end|>"}});
  write("special_tokens_map.json",
        {{"bos_token", "<|im_start|>"}, {"pad_token", {{"content", "<|endoftext|>"}}}});
  const auto tokenizer = Tokenizer::open(write("tokenizer.json", tiny_document()));
  EXPECT_EQ(tokenizer.bos(), std::nullopt);
  EXPECT_EQ(tokenizer.eos(), test::kImEnd);
  EXPECT_EQ(tokenizer.pad(), test::kEndOfText);
  EXPECT_THAT(tokenizer.encode_batch(std::vector<std::string>{"a", "ab"}, PaddingSide::Right).ids,
              ElementsAre('a', test::kEndOfText, 'a', 'b'));
}

TEST_F(TokenizerFiles, CompanionsShareThePrefixOfTheFilesName) {
  write("x_tokenizer_config.json", {{"eos_token", "<|im_end|>"}});
  const auto tokenizer = Tokenizer::from_json(write("x_tokenizer.json", tiny_document()));
  EXPECT_EQ(tokenizer.eos(), test::kImEnd);
}

TEST_F(TokenizerFiles, ACompanionThatNamesNoTokenIsRefused) {
  write("tokenizer_config.json", {{"eos_token", "<|nope|>"}});
  const auto path = write("tokenizer.json", tiny_document());
  EXPECT_THROW(Tokenizer::from_json(path), Error);
}

TEST_F(TokenizerFiles, AMissingFileIsNotFound) {
  try {
    Tokenizer::open(folder_.path() / "none.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::NotFound);
  }
}

}  // namespace
}  // namespace smol::text
