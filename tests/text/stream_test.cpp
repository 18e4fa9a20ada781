#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/stream_decoder.h"
#include "text/stream_encoder.h"
#include "text/tiny_tokenizer.h"

namespace smol::text {
namespace {

using test::tiny;
using test::tiny_document;
using testing::ElementsAre;
using testing::IsEmpty;
using Ids = std::vector<TokenId>;

TEST(StreamDecoder, HoldsAnIncompleteCharacter) {
  const Tokenizer tokenizer = tiny();
  StreamDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.push(0xE2), "");
  EXPECT_EQ(decoder.push(0x82), "");
  EXPECT_EQ(decoder.push(0xAC), "\u20AC");
  EXPECT_EQ(decoder.flush(), "");
}

TEST(StreamDecoder, ReplacesABrokenSequenceAsSoonAsItIsKnown) {
  const Tokenizer tokenizer = tiny();
  StreamDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.push(0xE2), "");
  EXPECT_EQ(decoder.push('A'), "\uFFFDA");
  EXPECT_EQ(decoder.push(0xFF), "\uFFFD");
}

TEST(StreamDecoder, FlushesWhatIsHeldAsOneReplacement) {
  const Tokenizer tokenizer = tiny();
  StreamDecoder decoder(tokenizer);
  decoder.push(0xF0);
  decoder.push(0x9F);
  EXPECT_EQ(decoder.flush(), "\uFFFD");
  EXPECT_EQ(decoder.flush(), "");
}

TEST(StreamDecoder, WaitsForTheThirdByteOfASurrogate) {
  const Tokenizer tokenizer = tiny();
  StreamDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.push(0xED), "");
  EXPECT_EQ(decoder.push(0xA0), "");
  EXPECT_EQ(decoder.push(0x80), "\uFFFD\uFFFD\uFFFD");
}

TEST(StreamDecoder, JoinsACharacterAcrossASkippedToken) {
  const Tokenizer tokenizer = tiny();
  StreamDecoder decoder(tokenizer, true);
  EXPECT_EQ(decoder.push(Ids{0xC3, test::kImEnd}), "");
  EXPECT_EQ(decoder.push(0xA9), "\u00E9");
}

TEST(StreamEncoder, ReturnsAPieceOnceItsEndIsKnown) {
  const Tokenizer tokenizer = tiny();
  StreamEncoder encoder(tokenizer);
  EXPECT_THAT(encoder.push("the"), IsEmpty());
  EXPECT_THAT(encoder.push(" the"), ElementsAre(257));
  EXPECT_THAT(encoder.push("!"), ElementsAre(258));
  EXPECT_THAT(encoder.flush(), ElementsAre('!'));
}

TEST(StreamEncoder, ReturnsAnAddedTokenAtOnceAndWhatItEnds) {
  const Tokenizer tokenizer = tiny();
  StreamEncoder encoder(tokenizer);
  EXPECT_THAT(encoder.push("a <|im_en"), ElementsAre('a'));
  EXPECT_THAT(encoder.push("d|>"), ElementsAre(' ', test::kImEnd));
}

TEST(StreamEncoder, IsEmptyAgainAfterFlush) {
  const Tokenizer tokenizer = tiny();
  StreamEncoder encoder(tokenizer);
  encoder.push("a\xC3");
  encoder.flush();
  EXPECT_THAT(encoder.push("\xA9x "), ElementsAre(0xEF, 0xBF, 0xBD, 'x'));
}

// Every kind of added token, among them those whose place depends on what is around them.
Json crowded_document() {
  Json document = tiny_document();
  TokenId id = 400;
  const auto add = [&](const char* content, std::initializer_list<const char*> flags) {
    Json token = test::added_token(id++, content, false);
    for (const char* flag : flags) {
      token[flag] = true;
    }
    document["added_tokens"].push_back(token);
  };
  add("<l>", {"lstrip"});
  add("<r>", {"rstrip"});
  add("<b>", {"lstrip", "rstrip", "special"});
  add("WORD", {"single_word"});
  add("NORM", {"single_word", "normalized"});
  add("x <", {"normalized"});
  add(" n", {"normalized", "special", "lstrip"});
  add("  ", {});
  add("\n<r", {});
  add("<r><l", {"single_word"});
  return document;
}

std::string random_added_text(std::mt19937& random) {
  static const std::vector<std::string> kUnits{
      "a",   " ",   "  ",   "\n",   "the",     "12",     "3",      "'",    "s",      ".",
      "x ",  "<",   "n",    "W",    "_",       "\u00E9", "\xC3",   "\xFF", "\u3000", "<l>",
      "<r>", "<b>", "WORD", "NORM", "<think>", "<|im",   "_end|>", "\n<r", "<l"};
  std::string text;
  for (std::size_t i = 1 + random() % 10; i > 0; --i) {
    text += kUnits[random() % kUnits.size()];
  }
  return text;
}

Ids encode_in_parts(const Tokenizer& tokenizer, AddedTokens mode, std::string_view text,
                    std::mt19937& random) {
  StreamEncoder encoder(tokenizer, mode);
  Ids ids;
  const auto append = [&](const Ids& more) { ids.insert(ids.end(), more.begin(), more.end()); };
  while (!text.empty()) {
    const std::size_t size = std::min<std::size_t>(text.size(), random() % 5);
    append(encoder.push(text.substr(0, size)));
    text.remove_prefix(size);
  }
  append(encoder.flush());
  return ids;
}

TEST(StreamEncoder, AddsUpToTheWholeForRandomCuts) {
  std::mt19937 random(7);
  for (const bool digits : {false, true}) {
    Json document = crowded_document();
    if (digits) {
      document["pre_tokenizer"] = test::smollm2_pre_tokenizer();
    }
    const Tokenizer tokenizer = tiny(document);
    for (int round = 0; round < 1500; ++round) {
      const std::string text = random_added_text(random);
      for (const auto mode : {AddedTokens::None, AddedTokens::OnlyNonSpecial, AddedTokens::All}) {
        ASSERT_EQ(encode_in_parts(tokenizer, mode, text, random), tokenizer.encode(text, mode))
            << Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
      }
    }
  }
}

TEST(StreamEncoder, EncodesALongPieceThatComesByteByByte) {
  const Tokenizer tokenizer = tiny();
  const std::string text(50'000, 'a');
  StreamEncoder encoder(tokenizer);
  Ids ids;
  for (const char c : text + " b") {
    const Ids more = encoder.push({&c, 1});
    ids.insert(ids.end(), more.begin(), more.end());
  }
  const Ids rest = encoder.flush();
  ids.insert(ids.end(), rest.begin(), rest.end());
  EXPECT_EQ(ids, tokenizer.encode(text + " b"));
}

}  // namespace
}  // namespace smol::text
