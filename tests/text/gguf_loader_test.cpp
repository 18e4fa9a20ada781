#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "gguf/file.h"
#include "gguf/writer.h"
#include "text/tiny_tokenizer.h"

namespace smol::text {
namespace {

using test::kBad;
using test::kUnsupported;
using testing::ElementsAre;
using testing::HasSubstr;

// The tiny tokenizer as GGUF metadata.
struct TinyGguf {
  std::string model = "gpt2";
  std::string pre = "smaug-bpe";
  std::vector<std::string> tokens, merges;
  std::vector<std::int32_t> types;
  std::vector<gguf::Metadata::Entry> more{{"tokenizer.ggml.bos_token_id", std::uint32_t{310}},
                                          {"tokenizer.ggml.eos_token_id", std::uint32_t{311}},
                                          {"tokenizer.ggml.padding_token_id", std::uint32_t{314}}};
  std::vector<std::string> without;  // keys to leave out

  TinyGguf() {
    for (int byte = 0; byte < 256; ++byte) {
      tokens.push_back(test::spell(static_cast<unsigned char>(byte)));
    }
    for (const auto& merge : test::tiny_merges()) {
      merges.push_back(test::spell(merge.left) + " " + test::spell(merge.right));
      tokens.push_back(test::spell(std::string(merge.left) + std::string(merge.right)));
    }
    while (tokens.size() < 315) {
      tokens.push_back("unused" + std::to_string(tokens.size()));
    }
    types.assign(tokens.size(), 1);
    tokens[test::kUnmerged] = "xyz";
    set(test::kImStart, "<|im_start|>", 3);
    set(test::kImEnd, "<|im_end|>", 3);
    set(test::kThink, "<think>", 4);
    set(test::kIm, "<|im", 4);
    set(test::kEndOfText, "<|endoftext|>", 3);
  }

  void set(TokenId id, const char* text, std::int32_t type) {
    tokens[static_cast<std::size_t>(id)] = text;
    types[static_cast<std::size_t>(id)] = type;
  }

  Tokenizer load() const {
    std::vector<gguf::Metadata::Entry> entries{
        {"general.architecture", std::string_view("llama")},
        {"tokenizer.ggml.model", std::string_view(model)},
        {"tokenizer.ggml.pre", std::string_view(pre)},
        {"tokenizer.ggml.tokens",
         gguf::Array(std::vector<std::string_view>(tokens.begin(), tokens.end()))},
        {"tokenizer.ggml.token_type", gguf::Array(types)},
        {"tokenizer.ggml.merges",
         gguf::Array(std::vector<std::string_view>(merges.begin(), merges.end()))}};
    entries.insert(entries.end(), more.begin(), more.end());
    std::erase_if(entries, [&](const auto& entry) {
      return std::find(without.begin(), without.end(), entry.first) != without.end();
    });
    const auto bytes = gguf::serialize_header(entries, {});
    return Tokenizer::from_gguf(gguf::File::parse(bytes, "tiny.gguf"));
  }
};

TEST(TokenizerGguf, GivesTheIdsOfTheJsonFile) {
  const Tokenizer from_gguf = TinyGguf().load();
  const Tokenizer from_json = test::tiny();
  for (const std::string text : {"the caf\u00E9", "a<|im_end|> <think>", "aaaa 123.\n\n",
                                 "<|im <|im_start|>", "\u4E2D\xFF"}) {
    for (const auto mode : {AddedTokens::None, AddedTokens::OnlyNonSpecial, AddedTokens::All}) {
      EXPECT_EQ(from_gguf.encode(text, mode), from_json.encode(text, mode)) << text;
    }
  }
}

TEST(TokenizerGguf, ReadsSmaugBpeWithIgnoreMerges) {
  EXPECT_THAT(TinyGguf().load().encode("xyz"), ElementsAre(test::kUnmerged));
}

TEST(TokenizerGguf, ReadsSmollmWithoutIgnoreMergesAndWithSingleDigits) {
  TinyGguf tiny;
  tiny.pre = "smollm";
  EXPECT_THAT(tiny.load().encode("xyz12"), ElementsAre('x', 'y', 'z', '1', '2'));
}

TEST(TokenizerGguf, ReadsTypesAsSpecialOrNot) {
  const Tokenizer tokenizer = TinyGguf().load();
  EXPECT_TRUE(tokenizer.is_special(test::kImEnd));
  EXPECT_TRUE(tokenizer.is_added(test::kThink));
  EXPECT_FALSE(tokenizer.is_special(test::kThink));
  EXPECT_EQ(tokenizer.bos(), test::kImStart);
  EXPECT_EQ(tokenizer.eos(), test::kImEnd);
  EXPECT_EQ(tokenizer.pad(), test::kEndOfText);
}

TEST(TokenizerGguf, AddsNoBos) {
  EXPECT_THAT(TinyGguf().load().encode("a"), ElementsAre('a'));
}

struct GgufFault {
  std::string name;
  ErrorCode code;
  std::string message;
  std::function<void(TinyGguf&)> plant;
};

std::ostream& operator<<(std::ostream& out, const GgufFault& fault) {
  return out << fault.name;
}

class FaultyTokenizerGguf : public testing::TestWithParam<GgufFault> {};

TEST_P(FaultyTokenizerGguf, IsRefusedInOneLine) {
  TinyGguf tiny;
  GetParam().plant(tiny);
  try {
    tiny.load();
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), GetParam().code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
    EXPECT_THAT(error.what(), testing::StartsWith("tiny.gguf: "));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

void leave_out(TinyGguf& tiny, const char* key) {
  tiny.without.emplace_back(key);
}

const std::vector<GgufFault> kGgufFaults{
    {"NoModel", kBad, "tokenizer.ggml.model: missing",
     [](TinyGguf& t) { leave_out(t, "tokenizer.ggml.model"); }},
    {"OtherModel", kUnsupported, "tokenizer.ggml.model", [](TinyGguf& t) { t.model = "llama\n"; }},
    {"NoPre", kBad, "tokenizer.ggml.pre: missing",
     [](TinyGguf& t) { leave_out(t, "tokenizer.ggml.pre"); }},
    {"OtherPre", kUnsupported, "tekken", [](TinyGguf& t) { t.pre = "tekken"; }},
    {"NoTokens", kBad, "tokenizer.ggml.tokens: missing",
     [](TinyGguf& t) { leave_out(t, "tokenizer.ggml.tokens"); }},
    {"ZeroTokens", kBad, "tokenizer.ggml.tokens", [](TinyGguf& t) { t.tokens.clear(); }},
    {"NoTypes", kBad, "tokenizer.ggml.token_type: missing",
     [](TinyGguf& t) { leave_out(t, "tokenizer.ggml.token_type"); }},
    {"OneTypeMissing", kBad, "expected 315 types", [](TinyGguf& t) { t.types.pop_back(); }},
    {"TypeZero", kBad, "token 5: expected 1 to 6", [](TinyGguf& t) { t.types[5] = 0; }},
    {"TypeSeven", kBad, "token 5: expected 1 to 6", [](TinyGguf& t) { t.types[5] = 7; }},
    {"TypeNegative", kBad, "token 5: expected 1 to 6", [](TinyGguf& t) { t.types[5] = -1; }},
    {"NoMerges", kBad, "tokenizer.ggml.merges: missing",
     [](TinyGguf& t) { leave_out(t, "tokenizer.ggml.merges"); }},
    {"TokenTwice", kBad, "same text as token", [](TinyGguf& t) { t.tokens[290] = "the"; }},
    {"AddedTokenTwice", kBad, "token id 314",
     [](TinyGguf& t) { t.set(test::kEndOfText, "<|im_end|>", 3); }},
    {"MergeUnknown", kBad, "merge 0", [](TinyGguf& t) { t.merges[0] = "zz a"; }},
    {"MergeWithoutSpace", kBad, "merge 3", [](TinyGguf& t) { t.merges[3] = "aa"; }},
    {"MergeEmpty", kBad, "merge 3", [](TinyGguf& t) { t.merges[3] = ""; }},
    {"MergeOnlySpace", kBad, "merge 3", [](TinyGguf& t) { t.merges[3] = " "; }},
    {"MergeTwice", kBad, "same pair", [](TinyGguf& t) { t.merges[3] = t.merges[0]; }},
    {"BosOutOfRange", kBad, "bos_token_id",
     [](TinyGguf& t) { t.more[0].second = std::uint32_t{315}; }},
    {"EosIsText", kBad, "eos_token_id",
     [](TinyGguf& t) { t.more[1].second = std::string_view("<|im_end|>"); }},
    {"PadNegative", kBad, "padding_token_id",
     [](TinyGguf& t) { t.more[2].second = std::int32_t{-1}; }},
};

INSTANTIATE_TEST_SUITE_P(Faults, FaultyTokenizerGguf, testing::ValuesIn(kGgufFaults),
                         [](const auto& fault) { return fault.param.name; });

}  // namespace
}  // namespace smol::text
