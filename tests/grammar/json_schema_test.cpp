#include <gtest/gtest.h>

#include "grammar/texts.h"

namespace smol::grammar {
namespace {

TEST(JsonSchema, KeepsTypes) {
  EXPECT_TRUE(schema_fits(R"({"type": "null"})", "null"));
  EXPECT_TRUE(schema_fits(R"({"type": ["boolean", "integer"]})", "-12"));
  EXPECT_FALSE(schema_fits(R"({"type": "integer"})", "1.0"));
  EXPECT_TRUE(schema_fits(R"({"type": "number"})", "-1.5e+10"));
  EXPECT_FALSE(schema_fits(R"({"type": "number"})", "1e999"));
  EXPECT_TRUE(schema_fits("true", R"({"a": [1, {"b": null}]})"));
  EXPECT_TRUE(schema_fits("{}", R"("text")"));
}

TEST(JsonSchema, AllowsOneSpaceOrNewlineBetweenTokens) {
  constexpr std::string_view kPair =
      R"({"type": "object", "properties": {"a": {"type": "array"}, "b": {}}})";
  EXPECT_TRUE(schema_fits(kPair, "{ \"a\" : [ 1 , 2 ]\n,\n\"b\"\n:\n3 }"));
  EXPECT_TRUE(schema_fits(kPair, R"({"a":[1,2],"b":3})"));
  EXPECT_TRUE(schema_fits(kPair, "{ }"));
  EXPECT_FALSE(schema_fits(kPair, "{  }"));
  EXPECT_FALSE(schema_fits(kPair, R"( {"a": []})"));
  EXPECT_FALSE(schema_fits(kPair, R"({"a": []} )"));
  EXPECT_FALSE(schema_fits(kPair, "{\"a\":\t[]}"));
}

TEST(JsonSchema, WritesKeysInTheSchemasOrderAndOthersBehindThem) {
  constexpr std::string_view kOpen =
      R"({"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "integer"}}, "required": ["a", "z"]})";
  EXPECT_TRUE(schema_fits(kOpen, R"({"b": 1, "a": 2, "z": null, "other": "x"})"));
  EXPECT_TRUE(schema_fits(kOpen, R"({"a": 2, "z": []})"));
  EXPECT_FALSE(schema_fits(kOpen, R"({"a": 2, "b": 1, "z": 0})"));
  EXPECT_FALSE(schema_fits(kOpen, R"({"a": 2})"));
  EXPECT_FALSE(schema_fits(kOpen, R"({"a": 2, "z": 0, "b": 1})"));
  EXPECT_FALSE(schema_fits(kOpen, R"({"a": 2, "z": 0, "\u0062": "no integer"})"));
  EXPECT_FALSE(schema_fits(kOpen, R"({"a": "x", "z": 0})"));
  EXPECT_TRUE(schema_fits(kOpen, R"({"a": 2, "z": 0, "bb": 1, "": 2})"));
}

TEST(JsonSchema, ClosesObjectsWithoutAdditionalProperties) {
  constexpr std::string_view kClosed =
      R"({"type": "object", "properties": {"a": {}}, "additionalProperties": false})";
  EXPECT_TRUE(schema_fits(kClosed, "{}"));
  EXPECT_TRUE(schema_fits(kClosed, R"({"a": 1})"));
  EXPECT_FALSE(schema_fits(kClosed, R"({"b": 1})"));
  EXPECT_FALSE(schema_fits(kClosed, R"({"a": 1, "a": 2})"));
  EXPECT_FALSE(schema_fits(kClosed, R"({"a": 1,})"));
}

TEST(JsonSchema, SortsOtherKeysByPattern) {
  constexpr std::string_view kPatterns =
      R"({"type": "object", "properties": {"xa": {"type": "string"}},
    "patternProperties": {"^x": {"maxLength": 2}, "y$": {"type": "string"}}, "additionalProperties": {"type": "null"}})";
  EXPECT_TRUE(
      schema_fits(kPatterns, R"({"xa": "ab", "x1": 5, "zy": "long text", "xy": "ab", "q": null})"));
  EXPECT_FALSE(schema_fits(kPatterns, R"({"xa": "abc"})"));
  EXPECT_FALSE(schema_fits(kPatterns, R"({"xa": 5})"));
  EXPECT_FALSE(schema_fits(kPatterns, R"({"x1": "abc"})"));
  EXPECT_FALSE(schema_fits(kPatterns, R"({"xy": "abc"})"));
  EXPECT_FALSE(schema_fits(kPatterns, R"({"q": 1})"));
}

TEST(JsonSchema, CountsProperties) {
  constexpr std::string_view kCounted =
      R"({"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "additionalProperties": false,
          "minProperties": 2, "maxProperties": 2})";
  EXPECT_FALSE(schema_fits(kCounted, R"({"a": 1})"));
  EXPECT_TRUE(schema_fits(kCounted, R"({"a": 1, "c": 1})"));
  EXPECT_FALSE(schema_fits(kCounted, R"({"a": 1, "b": 1, "c": 1})"));
  EXPECT_FALSE(schema_fits(R"({"type": "object", "minProperties": 1})", "{}"));
  EXPECT_TRUE(schema_fits(R"({"type": "object", "minProperties": 1})", R"({"a": 1, "b": 2})"));
  EXPECT_TRUE(schema_fits(R"({"type": "object", "maxProperties": 0})", "{}"));
  EXPECT_FALSE(schema_fits(R"({"type": "object", "maxProperties": 1})", R"({"a": 1, "b": 2})"));
}

TEST(JsonSchema, CountsItemsAndKnowsThoseInFront) {
  constexpr std::string_view kTuple =
      R"({"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "string"}, "minItems": 2, "maxItems": 3})";
  EXPECT_FALSE(schema_fits(kTuple, "[1]"));
  EXPECT_TRUE(schema_fits(kTuple, R"([1, "a"])"));
  EXPECT_TRUE(schema_fits(kTuple, R"([1, "a", "b"])"));
  EXPECT_FALSE(schema_fits(kTuple, R"([1, "a", "b", "c"])"));
  EXPECT_FALSE(schema_fits(kTuple, R"(["a", "a"])"));
  EXPECT_FALSE(schema_fits(R"({"type": "array"})", "[1,]"));
  EXPECT_TRUE(schema_fits(R"({"type": "array", "maxItems": 0})", "[]"));
  EXPECT_FALSE(schema_fits(R"({"type": "array", "maxItems": 0})", "[1]"));
  constexpr std::string_view kOld = R"({"items": [{"type": "null"}], "additionalItems": false})";
  EXPECT_TRUE(schema_fits(kOld, "[null]"));
  EXPECT_FALSE(schema_fits(kOld, "[null, null]"));
}

TEST(JsonSchema, CountsCharactersNotBytesOrEscapes) {
  constexpr std::string_view kTwo = R"({"type": "string", "minLength": 2, "maxLength": 2})";
  EXPECT_TRUE(schema_fits(kTwo, R"("é😀")"));
  EXPECT_TRUE(schema_fits(kTwo, R"("\n\u00e9")"));
  EXPECT_TRUE(schema_fits(kTwo, R"("\ud83d\ude00x")"));
  EXPECT_FALSE(schema_fits(kTwo, R"("a")"));
  EXPECT_FALSE(schema_fits(kTwo, R"("abc")"));
  EXPECT_TRUE(schema_fits(R"({"type": "string", "maxLength": 1000000000})", R"("abc")"));
}

TEST(JsonSchema, AllowsOnlyJsonInStrings) {
  EXPECT_FALSE(schema_fits(R"({"type": "string"})", "\"a\nb\""));
  EXPECT_FALSE(schema_fits(R"({"type": "string"})", R"("\x")"));
  EXPECT_FALSE(schema_fits(R"({"type": "string"})", R"("\ud800")"));
  EXPECT_FALSE(schema_fits(R"({"type": "string"})", "\"\xC0\x80\""));
  EXPECT_FALSE(schema_fits(R"({"type": "string"})", "\"\xED\xA0\x80\""));
  EXPECT_TRUE(schema_fits(R"({"type": "string"})", R"("\/\"\\\u0000")"));
}

TEST(JsonSchema, KeepsPatternFormatAndLengthTogether) {
  constexpr std::string_view kAll = R"({"type": "string", "pattern": "[0-9]$", "maxLength": 3})";
  EXPECT_TRUE(schema_fits(kAll, R"("ab1")"));
  EXPECT_FALSE(schema_fits(kAll, R"("abc1")"));
  EXPECT_FALSE(schema_fits(kAll, R"("ab")"));
  EXPECT_TRUE(schema_fits(R"({"pattern": "^\\n\"é$"})", R"("\n\"é")"));
  EXPECT_TRUE(schema_fits(R"({"pattern": "^a$"})", "17"));
  EXPECT_FALSE(schema_fits(R"({"format": "date"})", R"("2023-02-30")"));
  EXPECT_TRUE(schema_fits(R"({"type": "integer", "format": "int32"})", "-2147483648"));
  EXPECT_FALSE(schema_fits(R"({"type": "integer", "format": "int32"})", "2147483648"));
}

TEST(JsonSchema, ListsValuesOfEveryKind) {
  constexpr std::string_view kEnum =
      R"({"enum": ["a\"\n", 1, 2.5, null, true, ["x", {"k": 1e-07}], {}]})";
  for (const char* value :
       {R"("a\"\n")", "1", "2.5", "null", "true", R"(["x", {"k":1e-07}])", "{ }"}) {
    EXPECT_TRUE(schema_fits(kEnum, value)) << value;
  }
  for (const char* value : {"false", "2", R"("a")", R"(["x"])", R"([ "x",  {"k": 1e-07}])"}) {
    EXPECT_FALSE(schema_fits(kEnum, value)) << value;
  }
  EXPECT_TRUE(schema_fits(R"({"const": "\u0001é"})", "\"\\u0001é\""));
  EXPECT_TRUE(
      schema_fits(R"({"enum": ["a", "bbb", 3], "type": "string", "maxLength": 1})", R"("a")"));
  EXPECT_FALSE(
      schema_fits(R"({"enum": ["a", "bbb", 3], "type": "string", "maxLength": 1})", R"("bbb")"));
  EXPECT_FALSE(schema_fits(R"({"enum": ["a", "bbb", 3], "type": "string", "maxLength": 1})", "3"));
}

TEST(JsonSchema, KeepsAllOfTogether) {
  constexpr std::string_view kAll =
      R"({"allOf": [{"properties": {"a": {"minimum": 3}}, "required": ["a"]},
     {"properties": {"a": {"type": "integer", "maximum": 5}, "b": {}}, "additionalProperties": false, "type": "object"}]})";
  EXPECT_TRUE(schema_fits(kAll, R"({"a": 4, "b": 1})"));
  EXPECT_FALSE(schema_fits(kAll, R"({"a": 2})"));
  EXPECT_FALSE(schema_fits(kAll, R"({"a": 6})"));
  EXPECT_FALSE(schema_fits(kAll, R"({"a": 4, "c": 1})"));
  EXPECT_FALSE(schema_fits(kAll, "{}"));
}

TEST(JsonSchema, AllowsAnyBranchWithWhatStandsBesideIt) {
  constexpr std::string_view kAny =
      R"({"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": false,
     "anyOf": [{"required": ["a"]}, {"required": ["b"]}]})";
  EXPECT_TRUE(schema_fits(kAny, R"({"a": 1})"));
  EXPECT_TRUE(schema_fits(kAny, R"({"b": 1})"));
  EXPECT_TRUE(schema_fits(kAny, R"({"a": 1, "b": 1})"));
  EXPECT_FALSE(schema_fits(kAny, "{}"));
}

TEST(JsonSchema, TakesExclusiveBranchesThatAreToldApart) {
  constexpr std::string_view kOne = R"({"oneOf": [{"type": "string"}, {"type": "object",
      "properties": {"kind": {"const": "x"}, "n": {"type": "integer"}}, "required": ["kind"]},
      {"properties": {"kind": {"enum": ["y", "z"]}}, "required": ["kind"], "type": "object"}]})";
  EXPECT_TRUE(schema_fits(kOne, R"("text")"));
  EXPECT_TRUE(schema_fits(kOne, R"({"kind": "x", "n": 1})"));
  EXPECT_FALSE(schema_fits(kOne, R"({"kind": "x", "n": "1"})"));
  EXPECT_TRUE(schema_fits(kOne, R"({"kind": "z", "n": "1"})"));
}

TEST(JsonSchema, LetsRequiredKeysOfABranchComeFirst) {
  constexpr std::string_view kOne = R"({"oneOf": [
      {"type": "object", "properties": {"a": {}, "kind": {"const": "x"}}, "required": ["kind"], "additionalProperties": false},
      {"type": "object", "properties": {"a": {}, "kind": {"const": "y"}}, "required": ["kind", "a"], "additionalProperties": false}]})";
  for (const char* text : {R"({"a": 1, "kind": "x"})", R"({"kind": "x", "a": 1})",
                           R"({"kind": "y", "a": 1})", R"({"kind": "x"})"}) {
    EXPECT_TRUE(schema_fits(kOne, text)) << text;
  }
  EXPECT_FALSE(schema_fits(kOne, R"({"kind": "y"})"));
  EXPECT_FALSE(schema_fits(kOne, R"({"kind": "x", "a": 1, "a": 1})"));
}

TEST(JsonSchema, KeepsTheOrderInWhichPartsStand) {
  constexpr std::string_view kParts = R"({"type": "object", "allOf": [{"properties": {"a": {}}},
      {"anyOf": [{"properties": {"b": {"type": "null"}}}, {"properties": {"c": {"type": "null"}}}]}, {"properties": {"d": {}}}]})";
  EXPECT_TRUE(schema_fits(kParts, R"({"a": 1, "b": null, "d": 2})"));
  EXPECT_TRUE(schema_fits(kParts, R"({"a": 1, "c": null, "d": 2})"));
  EXPECT_FALSE(schema_fits(kParts, R"({"d": 1, "a": 2})"));
  EXPECT_FALSE(schema_fits(kParts, R"({"b": null, "a": 2})"));
}

TEST(JsonSchema, FollowsReferencesAndRecursion) {
  constexpr std::string_view kTree =
      R"({"$ref": "#/$defs/no~1de", "$defs": {"no/de": {"type": "object",
     "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/no~1de"}, "all": {"type": "array", "items": {"$ref": "#"}}},
     "required": ["v"], "additionalProperties": false}}})";
  EXPECT_TRUE(
      schema_fits(kTree, R"({"v": 1, "next": {"v": 2, "all": [{"v": 3}, {"v": 4, "all": []}]}})"));
  EXPECT_FALSE(schema_fits(kTree, R"({"v": 1, "next": {"w": 2}})"));
  EXPECT_TRUE(schema_fits(
      R"({"$id": "http://x/y", "$ref": "http://x/y#/$defs/a", "$defs": {"a": {"type": "null"}}})",
      "null"));
  EXPECT_TRUE(
      schema_fits(R"({"$ref": "#a", "$defs": {"a": {"$anchor": "a", "type": "null"}}})", "null"));
}

TEST(JsonSchema, HidesSiblingsOfRefInOldDrafts) {
  const std::string inner =
      R"("properties": {"a": {"$ref": "#/definitions/s", "maxLength": 1}}, "definitions": {"s": {"type": "string"}})";
  const std::string old =
      R"({"$schema": "http://json-schema.org/draft-07/schema#", )" + inner + "}";
  EXPECT_TRUE(schema_fits(old, R"({"a": "xy"})"));
  EXPECT_FALSE(schema_fits("{" + inner + "}", R"({"a": "xy"})"));
}

TEST(JsonSchema, ReadsDraft4Bounds) {
  constexpr std::string_view kOld =
      R"({"type": "integer", "minimum": 3, "exclusiveMinimum": true, "exclusiveMaximum": false, "maximum": 5})";
  EXPECT_FALSE(schema_fits(kOld, "3"));
  EXPECT_TRUE(schema_fits(kOld, "5"));
}

TEST(JsonSchema, ForbidsPropertiesWithFalse) {
  constexpr std::string_view kForbidden =
      R"({"type": "object", "properties": {"a": false, "b": {}}})";
  EXPECT_TRUE(schema_fits(kForbidden, R"({"b": 1})"));
  EXPECT_FALSE(schema_fits(kForbidden, R"({"a": 1})"));
}

TEST(JsonSchema, LeavesOutBranchesThatNeverEnd) {
  constexpr std::string_view kEndless =
      R"({"type": "object", "properties": {"a": {"$ref": "#/$defs/e"}, "b": {}},
     "$defs": {"e": {"type": "object", "properties": {"e": {"$ref": "#/$defs/e"}}, "required": ["e"]}}})";
  EXPECT_TRUE(schema_fits(kEndless, R"({"b": 1})"));
  Pushdown run(schema(kEndless));
  Cursors from = run.start();
  Cursors to;
  for (const char c : std::string_view(R"({"a")")) {
    run.step(from, static_cast<std::uint8_t>(c), to);
    std::swap(from, to);
  }
  EXPECT_TRUE(from.list.empty());
}

TEST(JsonSchema, AllowsAnyObject) {
  EXPECT_TRUE(fits(any_json_object(), R"({"a": [1, 2.5e3, "x\u00e9", {"b": {}}], "": null})"));
  EXPECT_FALSE(fits(any_json_object(), "[]"));
  EXPECT_FALSE(fits(any_json_object(), R"({"a": })"));
}

}  // namespace
}  // namespace smol::grammar
