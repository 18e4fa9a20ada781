#include "jinja/value.h"

#include <gtest/gtest.h>

#include "jinja/compare.h"
#include "jinja/fault.h"
#include "jinja/json_input.h"

namespace smol::jinja {
namespace {

Budget enough() {
  return {1'000'000'000, 1'000'000'000};
}

TEST(Dict, KeepsTheOrderOfInsertion) {
  Dict dict;
  for (int i = 20; i > 0; --i) {
    dict.set(std::to_string(i), Value::integer(i));
  }
  dict.set("7", Value::none());
  EXPECT_EQ(dict.size(), 20U);
  EXPECT_EQ(dict.entry(0).first.bytes(), "20");
  EXPECT_TRUE(dict.entry(13).second.is_none());
}

TEST(Dict, TakesEqualNumbersForOneKey) {
  Budget budget = enough();
  Dict dict;
  dict.set(Value::boolean(true), Value::integer(1), budget);
  dict.set(Value::integer(1), Value::integer(2), budget);
  dict.set(Value::number(1.0), Value::integer(3), budget);
  EXPECT_EQ(dict.size(), 1U);
  EXPECT_TRUE(dict.entry(0).first.is(Value::Kind::Bool));
  EXPECT_EQ(dict.entry(0).second.integer(), 3);
}

TEST(Dict, FindsBigIntegersByTheirFloat) {
  Budget budget = enough();
  Dict dict;
  dict.set(Value::integer(BigInt::from_double(1e30)), Value::none(), budget);
  EXPECT_NE(dict.find(Value::number(1e30), budget), nullptr);
}

TEST(Dict, FindsEachOfManyKeys) {
  Dict dict;
  for (int i = 0; i < 5000; ++i) {
    dict.set("key" + std::to_string(i), Value::integer(i));
  }
  for (int i = 0; i < 5000; ++i) {
    const Value* found = dict.find("key" + std::to_string(i));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->integer(), i);
  }
  EXPECT_EQ(dict.find("key5000"), nullptr);
}

TEST(Dict, RefusesListsAsKeys) {
  Budget budget = enough();
  Dict dict;
  EXPECT_THROW(dict.set(Value::list({}), Value::none(), budget), Fault);
}

TEST(Value, ComparesIntegersWithFloatsExactly) {
  Budget budget = enough();
  const Value odd = Value::integer(9007199254740993);
  EXPECT_FALSE(equals(budget, odd, Value::number(9007199254740992.0)));
  EXPECT_TRUE(ordered(budget, Ordering::Greater, odd, Value::number(9007199254740992.0)));
}

TEST(Value, RefusesContainersThatNestTooDeeply) {
  Value value = Value::none();
  while (value.depth() < kMaxNesting) {
    value = Value::list({value});
  }
  EXPECT_THROW(Value::list({value}), Fault);
}

TEST(ValueFromJson, KeepsOrderAndIntegersOfAnySize) {
  const Value value = value_from_json(
      R"({"z": 123456789012345678901234567890, "a": [1.5, null, true, "x"]})", "test");
  EXPECT_EQ(value.dict().entry(0).first.bytes(), "z");
  EXPECT_EQ(value.dict().find("z")->big().to_string(), "123456789012345678901234567890");
  EXPECT_EQ(value.dict().find("a")->items().size(), 4U);
}

TEST(ValueFromJson, MarksStringsAsInputUnlessToldOtherwise) {
  EXPECT_EQ(value_from_json("\"a\"", "test").text().origin(), Origin::Input);
  EXPECT_EQ(value_from_json("\"a\"", "test", Origin::Template).text().origin(), Origin::Template);
}

TEST(ValueFromJson, LetsTheLastOfEqualKeysWinInTheFirstsPlace) {
  const Value value = value_from_json(R"({"a": 1, "b": 2, "a": 3})", "test");
  EXPECT_EQ(value.dict().size(), 2U);
  EXPECT_EQ(value.dict().entry(0).second.integer(), 3);
}

TEST(ValueFromJson, NamesTheThingThatIsBroken) {
  try {
    value_from_json("{\"a\": ]", "settings.json");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::BadInput);
    EXPECT_EQ(std::string(error.what()).rfind("settings.json: ", 0), 0U) << error.what();
  }
}

TEST(ValueFromJson, RefusesDeepNesting) {
  EXPECT_THROW(value_from_json(std::string(300, '[') + std::string(300, ']'), "deep"), Error);
}

}  // namespace
}  // namespace smol::jinja
