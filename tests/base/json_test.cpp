#include "base/json.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace smol {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string error_of(const std::string& text) {
  try {
    parse_json(text, "thing");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::BadInput);
    return error.what();
  }
  return "";
}

TEST(ParseJson, KeepsTheOrderOfKeys) {
  EXPECT_EQ(parse_json(R"({"b":1,"a":[2,null]})", "thing").dump(), R"({"b":1,"a":[2,null]})");
}

TEST(ParseJson, NamesTheThingAndThePlaceOfAnError) {
  EXPECT_THAT(error_of("{\n  \"a\": ,\n}"),
              AllOf(HasSubstr("thing"), HasSubstr("line 2"), HasSubstr("column 8")));
}

TEST(ParseJson, ErrorsDoNotShowTheNumberOfTheLibrary) {
  EXPECT_THAT(error_of("{\"a\": nul}"), Not(HasSubstr("json.exception")));
}

TEST(ParseJson, RefusesTextAfterTheDocument) {
  EXPECT_THAT(error_of("{} {}"), HasSubstr("thing"));
}

TEST(ParseJson, RefusesDeepNesting) {
  EXPECT_EQ(error_of(std::string(200, '[') + std::string(200, ']')), "");
  EXPECT_THAT(error_of(std::string(100000, '[')), HasSubstr("nested deeper than 256"));
}

TEST(ParseJson, OfTwoEqualNamesTheLastCounts) {
  EXPECT_EQ(parse_json(R"({"a":1,"b":2,"a":[3]})", "thing").dump(), R"({"a":[3],"b":2})");
}

TEST(ParseJson, RefusesMoreThanItsLimits) {
  const JsonLimits limits{.members = 2, .values = 5};
  EXPECT_NO_THROW(parse_json(R"({"a":{"b":1,"c":2},"d":3})", "thing", limits));
  EXPECT_THROW(parse_json(R"({"a":1,"b":2,"c":3})", "thing", limits), Error);
  EXPECT_THROW(parse_json("[1,2,3,4,5]", "thing", limits), Error);
}

// A list of 300,000 objects took minutes when each of them made the parser look through all others.
TEST(ParseJson, TakesTimeInProportionToTheDocument) {
  std::string text = "[{}";
  for (int i = 0; i < 300000; ++i) {
    text += ",{}";
  }
  EXPECT_EQ(parse_json(text + "]", "thing").size(), 300001U);
}

}  // namespace
}  // namespace smol
