#include "chat/call_reader.h"

#include <string>

#include <gtest/gtest.h>

#include "chat/literal.h"

namespace smol::chat {
namespace {

// The arguments of the one call in `text`, or "none".
std::string arguments(const std::string& text) {
  const auto calls = read_calls(text);
  return calls && calls->size() == 1 ? calls->front().arguments : "none";
}

TEST(CallReader, KeepsTheModelsOwnTextOfTheArguments) {
  EXPECT_EQ(arguments(R"({"name":"f","arguments":{"a":1e3,  "b":123456789012345678901234567890}})"),
            R"({"a":1e3,  "b":123456789012345678901234567890})");
}

TEST(CallReader, RewritesWhatIsNoStrictJson) {
  EXPECT_EQ(arguments("{'name': 'f', 'arguments': {'a': True, \"b\": \"it's\nso\", 'c': [1,],}}"),
            R"({"a": true, "b": "it's\nso", "c": [1]})");
  EXPECT_EQ(arguments(R"({'name': 'f', 'arguments': {'a': '\x41\u00e9\'"\q'}})"),
            R"({"a": "Aé'\"\\q"})");
}

TEST(CallReader, KnowsOnlyTheWhiteSpaceOfJson) {
  EXPECT_EQ(arguments("{\"name\": \"f\",\r\n\t\"arguments\": {\"s\" : 1}}"), "{\"s\" : 1}");
  EXPECT_EQ(arguments("{\"name\": \"f\", \"arguments\": {\"s\"\v: 1}}"), "none");
}

TEST(CallReader, ReadsSurrogatePairsAndReplacesHalves) {
  EXPECT_EQ(arguments(R"({"name":"f","arguments":"{\"a\": \"\ud83d\ude00\"}"})"), R"({"a": "😀"})");
  EXPECT_EQ(arguments(R"({"name":"f","arguments":{"a":"\ud83d"}})"), "{\"a\": \"\xEF\xBF\xBD\"}");
}

TEST(CallReader, TakesAbsentNullAndEmptyArgumentsAsNone) {
  EXPECT_EQ(arguments(R"({"name":"f"})"), "{}");
  EXPECT_EQ(arguments(R"({"name":"f","arguments":null})"), "{}");
  EXPECT_EQ(arguments(R"({"name":"f","arguments":""})"), "{}");
}

TEST(CallReader, AcceptsAFunctionObject) {
  EXPECT_EQ(arguments(R"({"type":"function","function":{"name":"f","arguments":{"a":1}}})"),
            R"({"a":1})");
  EXPECT_EQ(arguments(R"({"function":{"function":{"name":"f"}}})"), "none");
}

TEST(CallReader, RefusesCallsWithoutANameOrWithOtherArguments) {
  EXPECT_EQ(arguments(R"({"name":"","arguments":{}})"), "none");
  EXPECT_EQ(arguments(R"({"name":5,"arguments":{}})"), "none");
  EXPECT_EQ(arguments(R"({"name":"f","arguments":[1]})"), "none");
  EXPECT_EQ(arguments(R"({"name":"f","arguments":"Paris"})"), "none");
  EXPECT_EQ(arguments(R"({"name":"f","arguments":true})"), "none");
}

TEST(CallReader, RefusesWhatIsNoLiteral) {
  for (const char* text : {"{", "{]", "{\"name\" \"f\"}", "{\"name\":\"f\" \"b\":1}", "{,}",
                           "{\"name\":\"f\",,}", "{\"name\":01}", "{\"name\":1.}", "{\"name\":-}",
                           "{\"name\":nope}", "{\"name\":\"\\u12\"}", "{\"name\":\"f\"} x", ""}) {
    EXPECT_FALSE(read_calls(text).has_value()) << text;
  }
}

TEST(CallReader, ReadsAListWholeOrNotAtAll) {
  EXPECT_EQ(read_calls(R"([{"name":"f"},{"name":"g"}])")->size(), 2U);
  EXPECT_TRUE(read_calls("[ ]")->empty());
  EXPECT_FALSE(read_calls(R"([{"name":"f"},{"nam":"g"}])").has_value());
  EXPECT_FALSE(read_calls(R"([{"name":"f"} {"name":"g"}])").has_value());
}

TEST(CallReader, BoundsTheDepth) {
  const auto nested = [](std::size_t depth) {
    return R"({"name":"f","arguments":{"a":)" + std::string(depth, '[') + std::string(depth, ']') +
           "}}";
  };
  EXPECT_TRUE(read_calls(nested(kMaxLiteralDepth - 2)).has_value());
  EXPECT_FALSE(read_calls(nested(100000)).has_value());
}

TEST(JsonQuote, EscapesControlsAndReplacesInvalidUtf8) {
  EXPECT_EQ(json_quote("a\"\\\n\x01\x7F é"), "\"a\\\"\\\\\\n\\u0001\x7F é\"");
  EXPECT_EQ(json_quote("\xFF"), "\"\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace smol::chat
