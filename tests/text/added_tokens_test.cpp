#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/tiny_tokenizer.h"

namespace smol::text {
namespace {

using test::added_token;
using test::kIm;
using test::kImEnd;
using test::kImStart;
using test::kThink;
using test::tiny;
using test::tiny_document;
using testing::ElementsAre;
using Ids = std::vector<TokenId>;

constexpr TokenId kNew = 400;

// The tiny tokenizer with one more added token.
Tokenizer with(std::string_view content, const std::vector<std::string>& flags) {
  Json token = added_token(kNew, content, false);
  for (const std::string& flag : flags) {
    token[flag] = true;
  }
  Json document = tiny_document();
  document["added_tokens"].push_back(token);
  return tiny(document);
}

TEST(AddedTokens, AreFoundBeforeThePreTokenizer) {
  EXPECT_THAT(tiny().encode("a<|im_end|>b"), ElementsAre('a', kImEnd, 'b'));
}

TEST(AddedTokens, TheLongestAtAPlaceWins) {
  EXPECT_THAT(tiny().encode("<|im<|im_start|><|im_"), ElementsAre(kIm, kImStart, kIm, '_'));
}

TEST(AddedTokens, CutTheTextForThePreTokenizer) {
  // Alone, the last of the spaces would be left for the word behind it.
  EXPECT_THAT(tiny().encode("    x"), ElementsAre(261, ' ', ' ', 'x'));
  EXPECT_THAT(tiny().encode("    <think>"), ElementsAre(262, kThink));
}

TEST(AddedTokens, AreNotFoundInModeNone) {
  EXPECT_THAT(tiny().encode("<think>", AddedTokens::None), ElementsAre('<', 256, 271, 'k', '>'));
}

TEST(AddedTokens, OnlyNonSpecialOnesAreFoundInThatMode) {
  const auto ids = tiny().encode("<think><|im_end|>", AddedTokens::OnlyNonSpecial);
  EXPECT_EQ(ids[0], kThink);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), kImEnd), 0);
}

TEST(AddedTokens, NothingIsFoundInsideASpecialOneThatWasPassedOver) {
  // "<|im" is an added token that is not special, but here it lies in "<|im_end|>".
  const auto ids = tiny().encode("<|im_end|><|im", AddedTokens::OnlyNonSpecial);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), kIm), 1);
  EXPECT_EQ(ids.back(), kIm);
}

TEST(AddedTokens, LstripSwallowsTheWhiteSpaceBefore) {
  EXPECT_THAT(with("<m>", {"lstrip"}).encode("a \n\t<m> b"), ElementsAre('a', kNew, ' ', 'b'));
}

TEST(AddedTokens, RstripSwallowsTheWhiteSpaceBehind) {
  EXPECT_THAT(with("<m>", {"rstrip"}).encode("a <m> \u3000b"), ElementsAre('a', ' ', kNew, 'b'));
}

TEST(AddedTokens, WhiteSpaceTakenByOneTokenIsNotTakenByTheNext) {
  const Tokenizer both = with("<m>", {"lstrip", "rstrip"});
  EXPECT_THAT(both.encode("<m>  <m>x"), ElementsAre(kNew, kNew, 'x'));
}

TEST(AddedTokens, SwallowedWhiteSpaceIsStillSearched) {
  Json document = tiny_document();
  Json strip = added_token(kNew, "<m>", false);
  strip["rstrip"] = true;
  document["added_tokens"].push_back(strip);
  document["added_tokens"].push_back(added_token(kNew + 1, "\t\t", false));
  EXPECT_THAT(tiny(document).encode("<m> \t\t b"), ElementsAre(kNew, kNew + 1, ' ', 'b'));
}

TEST(AddedTokens, SingleWordNeedsNonWordCharactersAround) {
  const Tokenizer word = with("WORD", {"single_word"});
  EXPECT_THAT(word.encode("WORD"), ElementsAre(kNew));
  EXPECT_THAT(word.encode("-WORD."), ElementsAre('-', kNew, '.'));
  for (const std::string text : {"WORDs", "xWORD", "WORD_", "1WORD", "\u00E9WORD", "WORD\u0301"}) {
    const auto ids = word.encode(text);
    EXPECT_EQ(std::count(ids.begin(), ids.end(), kNew), 0) << text;
  }
}

TEST(AddedTokens, NormalizedOnesAreFoundInWhatTheFirstPassLeft) {
  // The second pass would be first by position, and its edges are those of its stretch of text.
  EXPECT_THAT(with("a<think", {"normalized"}).encode("a<think>"), ElementsAre('a', kThink));
  EXPECT_THAT(with("WORD", {"normalized", "single_word"}).encode("<think>WORD"),
              ElementsAre(kThink, kNew));
}

std::vector<TokenId> encode_parts(const Tokenizer& tokenizer,
                                  const std::vector<PromptPart>& parts) {
  return tokenizer.encode(std::span<const PromptPart>(parts));
}

TEST(PromptParts, AreJoinedBeforePreTokenization) {
  EXPECT_THAT(encode_parts(tiny(), {{"a.", false}, {"\n\n", true}}), ElementsAre('a', 264));
}

TEST(PromptParts, InputNeverBecomesAnAddedToken) {
  const auto ids = encode_parts(
      tiny(), {{"<|im_start|>", true}, {"<|im_end|><think>", false}, {"<|im_end|>", true}});
  EXPECT_EQ(ids.front(), kImStart);
  EXPECT_EQ(ids.back(), kImEnd);
  EXPECT_EQ(std::count_if(ids.begin(), ids.end(), [](TokenId id) { return id >= 300; }), 2);
}

TEST(PromptParts, ATokenAcrossTheBorderToInputIsNotFound) {
  const auto ids = encode_parts(tiny(), {{"<thi", true}, {"nk>", false}});
  EXPECT_EQ(std::count(ids.begin(), ids.end(), kThink), 0);
}

TEST(PromptParts, ATokenAcrossPartsThatMayHoldItIsFound) {
  EXPECT_THAT(encode_parts(tiny(), {{"<thi", true}, {"", false}, {"nk>", true}}),
              ElementsAre(kThink));
}

TEST(PromptParts, AShorterTokenThatFitsIsFoundWhereTheLongerWouldReachIntoInput) {
  const auto ids = encode_parts(tiny(), {{"<|im", true}, {"_end|>", false}});
  EXPECT_EQ(ids.front(), kIm);
}

TEST(PromptParts, AnInvalidByteInOnePartDoesNotMoveTheOthers) {
  EXPECT_THAT(encode_parts(tiny(), {{"\xFF", false}, {"<think>", true}}),
              ElementsAre(0xEF, 0xBF, 0xBD, kThink));
}

TEST(PromptParts, ACharacterMayBeCutByABorder) {
  EXPECT_THAT(encode_parts(tiny(), {{"\xC3", false}, {"\xA9", true}}), ElementsAre(267));
}

}  // namespace
}  // namespace smol::text
