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

}  // namespace
}  // namespace smol
