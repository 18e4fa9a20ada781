#include "tools/calculator.h"

#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tools/tool.h"

namespace smol::tools {
namespace {

std::string result(const std::string& expression) {
  try {
    return number_text(evaluate(expression));
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Calculator, KnowsPrecedence) {
  EXPECT_EQ(result("(3 + 4) * 12.5"), "87.5");
  EXPECT_EQ(result("2 + 3 * 4 - 6 / 2"), "11");
  EXPECT_EQ(result("-2^2"), "-4");
  EXPECT_EQ(result("2^3^2"), "512");
  EXPECT_EQ(result("2 ** 10 % 1000"), "24");
}

TEST(Calculator, KnowsFunctionsAndConstants) {
  EXPECT_EQ(result("sqrt(2) * sqrt(2) - 2 < 1"),
            "expression: expected an operator at character 23, found '<'");
  EXPECT_EQ(result("max(1, 2 + 3, 4)"), "5");
  EXPECT_EQ(result("round(pi * 1000)"), "3142");
}

TEST(Calculator, SaysWhereItStopped) {
  EXPECT_EQ(result("1 +"), "expression: expected a number at character 4, found its end");
  EXPECT_EQ(result("(1"), "expression: expected ')' at character 3, found its end");
  EXPECT_EQ(result("system(1)"),
            "expression: expected a function or a constant that it knows at character 1, found "
            "'s'");
  EXPECT_EQ(result("1 / 0"), "expression: expected a finite result, found none");
  EXPECT_EQ(result(std::string(5000, '(')),
            "expression: expected less nesting at character 101, found '('");
}

TEST(Calculator, WritesNumbersShortly) {
  EXPECT_EQ(number_text(1e20), "1e+20");
  EXPECT_EQ(number_text(1234567), "1234567");
  EXPECT_EQ(number_text(0.1), "0.1");
}

TEST(BuiltInTools, TellTheTimeUnaskedAndComputeWithPermission) {
  const auto tools = built_in_tools([] { return 0; });
  ASSERT_EQ(tools.size(), 2U);
  EXPECT_FALSE(tools[0].asks);
  EXPECT_NE(tools[0].run(Json::object()).find("19"), std::string::npos);
  EXPECT_TRUE(tools[1].asks);
  EXPECT_EQ(tools[1].run({{"expression", "6 * 7"}}), "42");
  EXPECT_THROW(tools[1].run(Json::object()), Error);
}

}  // namespace
}  // namespace smol::tools
