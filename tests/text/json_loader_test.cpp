#include <functional>
#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "text/tiny_tokenizer.h"

namespace smol::text {
namespace {

using test::added_token;
using test::kBad;
using test::kUnsupported;
using test::smollm2_pre_tokenizer;
using test::spell;
using test::tiny;
using test::tiny_document;
using testing::ElementsAre;
using testing::HasSubstr;

struct JsonFault {
  std::string name;
  ErrorCode code;
  std::string message;  // a part of it
  std::function<void(Json&)> plant;
};

std::ostream& operator<<(std::ostream& out, const JsonFault& fault) {
  return out << fault.name;
}

class FaultyTokenizerJson : public testing::TestWithParam<JsonFault> {};

TEST_P(FaultyTokenizerJson, IsRefusedInOneLine) {
  Json document = tiny_document();
  GetParam().plant(document);
  try {
    tiny(document);
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), GetParam().code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
    EXPECT_THAT(error.what(), testing::StartsWith("tiny.json: "));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

const std::vector<JsonFault> kJsonFaults{
    {"NoModel", kBad, "tokenizer.json.model", [](Json& d) { d.erase("model"); }},
    {"ModelIsAList", kBad, "model", [](Json& d) { d["model"] = Json::array(); }},
    {"NotAnObject", kBad, "expected an object",
     [](Json& d) {
       d = Json::array({1, 2});
     }},
    {"NoVocab", kBad, "model.vocab", [](Json& d) { d["model"].erase("vocab"); }},
    {"EmptyVocab", kBad, "model.vocab", [](Json& d) { d["model"]["vocab"] = Json::object(); }},
    {"VocabIsAList", kBad, "model.vocab", [](Json& d) { d["model"]["vocab"] = Json::array(); }},
    {"IdIsText", kBad, "model.vocab entry", [](Json& d) { d["model"]["vocab"]["new"] = "7"; }},
    {"IdIsNegative", kBad, "a negative number", [](Json& d) { d["model"]["vocab"]["new"] = -1; }},
    {"IdIsFraction", kBad, "fraction", [](Json& d) { d["model"]["vocab"]["new"] = 1.5; }},
    {"IdIsObject", kBad, "an object", [](Json& d) { d["model"]["vocab"]["new"] = Json::object(); }},
    {"IdIsList", kBad, "an array", [](Json& d) { d["model"]["vocab"]["new"] = Json::array(); }},
    {"IdIsHuge", kBad, "4000000000", [](Json& d) { d["model"]["vocab"]["new"] = 4000000000U; }},
    {"IdTwice", kBad, "used by two", [](Json& d) { d["model"]["vocab"]["new"] = 7; }},
    {"TokenTooLong", kBad, "at most",
     [](Json& d) { d["model"]["vocab"][std::string(70000, 'x')] = 500; }},
    {"NoMerges", kBad, "model.merges", [](Json& d) { d["model"].erase("merges"); }},
    {"MergesIsAnObject", kBad, "model.merges",
     [](Json& d) { d["model"]["merges"] = Json::object(); }},
    {"MergeWithoutSpace", kBad, "merge 16", [](Json& d) { d["model"]["merges"].push_back("ab"); }},
    {"MergeWithTwoSpaces", kBad, "one space",
     [](Json& d) { d["model"]["merges"].push_back("a b c"); }},
    {"MergeIsANumber", kBad, "entry 16", [](Json& d) { d["model"]["merges"].push_back(5); }},
    {"MergeOfThree", kBad, "array of 3",
     [](Json& d) {
       d["model"]["merges"].push_back({"a", "b", "c"});
     }},
    {"MergePairOfNumbers", kBad, "entry 16",
     [](Json& d) {
       d["model"]["merges"].push_back({1, 2});
     }},
    {"MergeWithAnEmptyHalf", kBad, "empty",
     [](Json& d) {
       d["model"]["merges"].push_back({"a", ""});
     }},
    {"MergeOfUnknownLeft", kBad, "left half is not in",
     [](Json& d) { d["model"]["merges"].push_back("zz a"); }},
    {"MergeOfUnknownRight", kBad, "right half is not in",
     [](Json& d) { d["model"]["merges"].push_back("a zz"); }},
    {"MergeWithoutResult", kBad, "result is not in",
     [](Json& d) { d["model"]["merges"].push_back("a z"); }},
    {"MergeTwice", kBad, "same pair", [](Json& d) { d["model"]["merges"].push_back("t h"); }},
    {"MergeNotSpelled", kBad, "stands for no byte",
     [](Json& d) { d["model"]["merges"].push_back("a \u4E2D"); }},
    {"AddedTokensIsAnObject", kBad, "added_tokens",
     [](Json& d) { d["added_tokens"] = Json::object(); }},
    {"AddedTokenIsText", kBad, "added_tokens[5]",
     [](Json& d) { d["added_tokens"].push_back("x"); }},
    {"AddedWithoutId", kBad, "added_tokens[0].id",
     [](Json& d) { d["added_tokens"][0].erase("id"); }},
    {"AddedWithoutContent", kBad, "added_tokens[0].content",
     [](Json& d) { d["added_tokens"][0].erase("content"); }},
    {"AddedFlagIsText", kBad, "added_tokens[0].special",
     [](Json& d) { d["added_tokens"][0]["special"] = "yes"; }},
    {"AddedIdTwice", kBad, "id 310",
     [](Json& d) { d["added_tokens"].push_back(added_token(310, "new", true)); }},
    {"AddedContentTwice", kBad, "same content",
     [](Json& d) { d["added_tokens"].push_back(added_token(400, "<think>", true)); }},
    {"AddedIdOfAnotherToken", kBad, "id 7",
     [](Json& d) { d["added_tokens"].push_back(added_token(7, "<new>", true)); }},
    {"AddedIdIsHuge", kBad, "id", [](Json& d) { d["added_tokens"][0]["id"] = 4000000000U; }},
    {"Unigram", kUnsupported, "Unigram", [](Json& d) { d["model"]["type"] = "Unigram"; }},
    {"ByteFallback", kUnsupported, "byte_fallback",
     [](Json& d) { d["model"]["byte_fallback"] = true; }},
    {"WordPrefix", kUnsupported, "continuing_subword_prefix",
     [](Json& d) { d["model"]["continuing_subword_prefix"] = "##"; }},
    {"Dropout", kUnsupported, "dropout", [](Json& d) { d["model"]["dropout"] = 0.1; }},
    {"Normalizer", kUnsupported, "normalizer",
     [](Json& d) {
       d["normalizer"] = {{"type", "NFC"}};
     }},
    {"OtherDecoder", kUnsupported, "decoder", [](Json& d) { d["decoder"]["type"] = "Metaspace"; }},
    {"NoPreTokenizer", kBad, "pre_tokenizer", [](Json& d) { d.erase("pre_tokenizer"); }},
    {"OtherPreTokenizer", kUnsupported, "Whitespace",
     [](Json& d) {
       d["pre_tokenizer"] = {{"type", "Whitespace"}};
     }},
    {"OtherRegex", kUnsupported, "pre_tokenizer",
     [](Json& d) { d["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "\\w+"; }},
    {"PrefixSpace", kUnsupported, "add_prefix_space",
     [](Json& d) { d["pre_tokenizer"]["pretokenizers"][1]["add_prefix_space"] = true; }},
    {"UnknownTokenForMissingBytes", kUnsupported, "unk_token",
     [](Json& d) {
       d["model"]["vocab"].erase(spell('q'));
       d["model"]["unk_token"] = "<|endoftext|>";
     }},
};

INSTANTIATE_TEST_SUITE_P(Faults, FaultyTokenizerJson, testing::ValuesIn(kJsonFaults),
                         [](const auto& fault) { return fault.param.name; });

void expect_bad(const std::string& text, const std::string& message) {
  try {
    Tokenizer::parse_json(text, "tiny.json");
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::BadInput);
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST(TokenizerJson, EveryTruncationIsRefused) {
  const std::string whole = tiny_document().dump();
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    EXPECT_THROW(Tokenizer::parse_json(whole.substr(0, size), "tiny.json"), Error) << size;
  }
}

TEST(TokenizerJson, ATokenThatOccursTwiceIsRefused) {
  std::string text = tiny_document().dump();
  text.replace(text.find("\"xyz\":300"), 9, "\"the\":300");
  expect_bad(text, "same text as token 257");
}

TEST(TokenizerJson, TwoVocabulariesAreRefused) {
  std::string text = tiny_document().dump();
  text.replace(text.find("\"byte_fallback\":false"), 21, "\"vocab\":{\"a\":900}");
  expect_bad(text, "model.vocab: occurs twice");
}

TEST(TokenizerJson, DeepNestingIsRefused) {
  expect_bad(std::string(100000, '['), "nested deeper");
}

TEST(TokenizerJson, AnObjectOfManyMembersIsRefused) {
  std::string members;
  for (int i = 0; i < 5000; ++i) {
    members += "\"k" + std::to_string(i) + "\":0,";
  }
  std::string text = tiny_document().dump();
  text.insert(text.find("\"type\":\"ByteLevel\"}"), members);
  expect_bad(text, "4096 members");
}

TEST(TokenizerJson, MergesMayBePairs) {
  Json document = tiny_document();
  for (Json& merge : document["model"]["merges"]) {
    const std::string text = merge;
    const std::size_t space = text.find(' ');
    merge = {text.substr(0, space), text.substr(space + 1)};
  }
  EXPECT_THAT(tiny(document).encode(" the"), ElementsAre(258));
}

TEST(TokenizerJson, MergesMayComeBeforeTheVocabulary) {
  Json document = tiny_document();
  Json model = Json::object();
  model["merges"] = document["model"]["merges"];
  for (const auto& [key, value] : document["model"].items()) {
    model[key] = value;
  }
  document["model"] = model;
  EXPECT_THAT(tiny(document).encode(" the"), ElementsAre(258));
}

TEST(TokenizerJson, AnAddedTokenMayBeInTheVocabularyToo) {
  Json document = tiny_document();
  document["model"]["vocab"]["<|im_end|>"] = test::kImEnd;
  EXPECT_THAT(tiny(document).encode("<|im_end|>"), ElementsAre(test::kImEnd));
}

TEST(TokenizerJson, AnEmptyAddedTokenIsNeverFound) {
  Json document = tiny_document();
  document["added_tokens"].push_back(added_token(400, "", true));
  EXPECT_THAT(tiny(document).encode("ab"), ElementsAre('a', 'b'));
}

TEST(TokenizerJson, GapsBetweenIdsAreUnknownIds) {
  EXPECT_EQ(tiny().bytes_of(305), "");
  EXPECT_EQ(tiny().decode(std::vector<TokenId>{'a', 305, 'b'}, false), "ab");
}

TEST(TokenizerJson, SmolLm2sPreTokenizerIsKnown) {
  Json document = tiny_document();
  document["pre_tokenizer"] = smollm2_pre_tokenizer();
  EXPECT_THAT(tiny(document).encode("123"), ElementsAre('1', '2', '3'));
}

TEST(TokenizerJson, Gpt2sPreTokenizerIsKnown) {
  Json document = tiny_document();
  document["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  EXPECT_THAT(tiny(document).encode("123 x"), ElementsAre(266, ' ', 'x'));
}

}  // namespace
}  // namespace smol::text
