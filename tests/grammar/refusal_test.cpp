#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grammar/texts.h"

namespace smol::grammar {
namespace {

using ::testing::StartsWith;

TEST(JsonSchemaRefusal, NamesKeywordAndPath) {
  struct Case {
    const char *schema, *message;
  };

  for (
      const Case& one : {
          Case{R"({"not": {}})", R"(/not: "not" is not supported)"},
          Case{R"({"properties": {"a/b": {"items": {"contains": {}}}}})",
               R"(/properties/a~1b/items/contains: )"},
          Case{R"({"if": {}, "then": {}})", R"(/if: "if")"},
          Case{R"({"uniqueItems": true})", R"(/uniqueItems: "uniqueItems")"},
          Case{R"({"type": "string", "format": "color"})", R"(/format: "format")"},
          Case{R"({"format": "int32"})", R"(/format: "format")"},
          Case{R"({"pattern": "("})", R"(/pattern: "pattern")"},
          Case{R"({"pattern": "(a)\\1"})", R"(/pattern: "pattern")"},
          Case{R"({"patternProperties": {"(": {}}})", R"(/patternProperties: "patternProperties")"},
          Case{R"({"propertyNames": {"maxLength": 3}})", R"(/propertyNames: )"},
          Case{R"({"dependentRequired": {}})", R"(/dependentRequired: )"},
          Case{R"({"allOf": [{}, {"unevaluatedProperties": false}]})",
               R"(/allOf/1/unevaluatedProperties: )"},
          Case{R"({"minProperties": 2})", R"(/minProperties: )"},
          Case{R"({"$ref": "http://elsewhere/x"})", R"(/$ref: "$ref" to another document)"},
          Case{R"({"items": {"$ref": "#/$defs/x"}})", R"(/items/$ref: "$ref" leads nowhere)"},
          Case{R"({"$ref": "#"})", R"(/$ref: "$ref" leads in a circle)"},
          Case{R"({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]})", R"(/oneOf: "oneOf")"},
          Case{R"({"oneOf": [{"type": "integer"}, {"type": "number"}]})", R"(/oneOf: "oneOf")"},
          Case{
              R"({"oneOf": [{"properties": {"k": {"const": 1}}}, {"properties": {"k": {"const": 2}}}]})",
              R"(/oneOf: )"},
          Case{R"({"enum": [{"a": 1}], "required": ["b"]})", R"(/enum: "enum")"},
          Case{R"({"multipleOf": 123457.3})", R"(/multipleOf: )"},
      }) {
    EXPECT_THAT(schema_refusal(one.schema), StartsWith(one.message)) << one.schema;
  }
}

TEST(JsonSchemaRefusal, NamesValuesOfTheWrongKind) {
  struct Case {
    const char *schema, *path;
  };

  for (const Case& one : {
           Case{"3", "/: expected a schema"},
           Case{R"({"properties": {"a": "x"}})", "/properties/a: expected a schema"},
           Case{R"({"type": "text"})", "/type: "},
           Case{R"({"type": 3})", "/type: "},
           Case{R"({"enum": 3})", "/enum: "},
           Case{R"({"required": "a"})", "/required: "},
           Case{R"({"required": [1]})", "/required: "},
           Case{R"({"properties": {"a": {"required": true}}})", "/properties/a/required: "},
           Case{R"({"uniqueItems": 1})", "/uniqueItems: "},
           Case{R"({"minimum": true})", "/minimum: "},
           Case{R"({"minLength": -1})", "/minLength: "},
           Case{R"({"minLength": 1.5})", "/minLength: "},
           Case{R"({"minimum": "1"})", "/minimum: "},
           Case{R"({"multipleOf": 0})", "/multipleOf: "},
           Case{R"({"pattern": 1})", "/pattern: "},
           Case{R"({"format": 1})", "/format: "},
           Case{R"({"properties": []})", "/properties: "},
           Case{R"({"anyOf": []})", "/anyOf: "},
           Case{R"({"allOf": {}})", "/allOf: "},
           Case{R"({"$ref": 1})", "/$ref: "},
       }) {
    EXPECT_THAT(schema_refusal(one.schema), StartsWith(one.path)) << one.schema;
  }
}

TEST(JsonSchemaRefusal, RefusesSchemasThatAllowNothing) {
  for (const char* nothing :
       {"false", R"({"enum": []})", R"({"type": "integer", "minimum": 2, "maximum": 1})",
        R"({"type": []})", R"({"type": "object", "properties": {"a": false}, "required": ["a"]})",
        R"({"type": "string", "minLength": 2, "maxLength": 1})",
        R"({"allOf": [{"type": "null"}, {"type": "array"}]})",
        R"({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]})"}) {
    EXPECT_THAT(schema_refusal(nothing), StartsWith("/: the schema allows no value")) << nothing;
  }
}

// Each would take gigabytes or minutes if it were unrolled or tried in full.
TEST(JsonSchemaRefusal, BoundsSchemaBombs) {
  const auto nested = [](const std::string& before, const std::string& behind, int n) {
    std::string text;
    for (int i = 0; i < n; ++i) {
      text += before;
    }
    text += "{}";
    for (int i = 0; i < n; ++i) {
      text += behind;
    }
    return text;
  };
  std::string choices = R"({"allOf": [)";
  for (int i = 0; i < 30; ++i) {
    choices += (i > 0 ? "," : "") + std::string(R"({"anyOf": [{"required": ["a)") +
               std::to_string(i) + R"("]}, {"required": ["b)" + std::to_string(i) + R"("]}]})";
  }
  choices += "]}";
  const std::vector<std::string> bombs{
      R"({"type": "string", "minLength": 1000000000})",
      R"({"type": "array", "minItems": 1000000000})",
      R"({"type": "array", "maxItems": 100000})",
      R"({"type": "object", "maxProperties": 1000000})",
      R"({"type": "string", "pattern": "^((a{0,100}){0,100}){0,100}b?$"})",
      R"({"type": "string", "pattern": "(a|b)*a(a|b){40}$"})",
      R"({"type": "string", "pattern": "^(\\S+\\s+){0,999}\\S+$", "maxLength": 100000})",
      choices,
  };
  for (const std::string& bomb : bombs) {
    EXPECT_THAT(schema_refusal(bomb), StartsWith("/")) << bomb.substr(0, 100);
  }
  EXPECT_EQ(schema_refusal(R"({"type": "string", "maxLength": 1000000000})"), "");
  EXPECT_EQ(schema_refusal(R"({"type": "array", "maxItems": 1000000000})"), "");
  EXPECT_EQ(schema_refusal(nested(R"({"items": )", "}", 100)), "");
}

TEST(JsonSchemaRefusal, CompilesLongChainsOfReferences) {
  std::string chain = R"({"$ref": "#/$defs/r0", "$defs": {)";
  for (int i = 0; i < 1000; ++i) {
    chain += "\"r" + std::to_string(i) + R"(": {"type": "array", "items": {"$ref": "#/$defs/r)" +
             std::to_string(i + 1) + "\"}},";
  }
  EXPECT_EQ(schema_refusal(chain + R"("r1000": {"type": "null"}}})"), "");
}

}  // namespace
}  // namespace smol::grammar
