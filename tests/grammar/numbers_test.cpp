#include "grammar/numbers.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "base/error.h"

namespace smol::grammar {
namespace {

Decimal decimal(std::string_view text) {
  return parse_decimal(text).value();
}

NumberBound bound(std::string_view text, bool exclusive = false) {
  return {decimal(text), exclusive};
}

CharDfa automaton(const NumberRules& rules) {
  StepBudget budget;
  return number_automaton(rules, budget);
}

TEST(Decimal, ReadsExponentsExactly) {
  EXPECT_EQ(decimal("1e3").text(), "1000");
  EXPECT_EQ(decimal("-12.50e-1").text(), "-1.25");
  EXPECT_EQ(decimal("1e-07").text(), "0.0000001");
  EXPECT_EQ(decimal("-0.0").text(), "0");
  EXPECT_EQ(decimal("123.4e1").text(), "1234");
  EXPECT_FALSE(parse_decimal("1e9999"));
}

TEST(Decimal, ComparesBySizeAndSign) {
  const std::vector<std::string> ordered{"-100", "-20", "-3.5", "-3.25", "0",
                                         "0.05", "0.5", "3",    "20"};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      const int order = compare(decimal(ordered[i]), decimal(ordered[j]));
      EXPECT_EQ(order < 0, i < j) << ordered[i] << " " << ordered[j];
      EXPECT_EQ(order == 0, i == j) << ordered[i] << " " << ordered[j];
    }
  }
}

// The automaton and plain arithmetic agree on every value.
void expect_agreement(const NumberRules& rules, const std::vector<std::string>& values) {
  const CharDfa dfa = automaton(rules);
  for (const std::string& value : values) {
    const Decimal exact = decimal(value);
    const int to_low = compare(exact, rules.min->value);
    const int to_high = compare(exact, rules.max->value);
    const bool inside =
        rules.min->exclusive ? to_low > 0 && to_high < 0 : to_low >= 0 && to_high <= 0;
    ASSERT_EQ(dfa.matches(value), inside)
        << rules.min->value.text() << " " << value << " " << rules.max->value.text();
  }
}

TEST(NumberAutomaton, AgreesWithArithmeticOnEveryBound) {
  const std::vector<std::string> bounds{"-100", "-10.5", "-1", "-0.25", "0",  "0.1",
                                        "1",    "9.99",  "10", "105",   "250"};
  std::vector<std::string> values;
  for (int i = -1300; i <= 1300; i += 7) {
    for (const char* fraction : {"", ".0", ".1", ".25", ".99", ".990", ".10"}) {
      values.push_back(std::to_string(i / 4) + fraction);
    }
  }
  values.insert(values.end(),
                {"-0", "-0.0", "0.05", "0.1000", "9.989", "9.991", "-0.2500", "-0.251", "100"});
  for (const std::string& low : bounds) {
    for (const std::string& high : bounds) {
      for (const bool exclusive : {false, true}) {
        NumberRules rules;
        rules.min = bound(low, exclusive);
        rules.max = bound(high, exclusive);
        ASSERT_NO_FATAL_FAILURE(expect_agreement(rules, values));
      }
    }
  }
}

TEST(NumberAutomaton, WritesIntegersWithoutFractions) {
  NumberRules rules;
  rules.integer = true;
  rules.min = bound("-5");
  rules.max = bound("17.5");
  const CharDfa dfa = automaton(rules);
  for (int i = -30; i <= 30; ++i) {
    EXPECT_EQ(dfa.matches(std::to_string(i)), i >= -5 && i <= 17) << i;
  }
  EXPECT_FALSE(dfa.matches("1.0"));
  EXPECT_FALSE(dfa.matches("01"));
}

TEST(NumberAutomaton, KeepsExponentsWhereOnlyTheSignIsBounded) {
  NumberRules rules;
  rules.min = bound("0");
  EXPECT_TRUE(automaton(rules).matches("1e-07"));
  EXPECT_TRUE(automaton(rules).matches("0"));
  EXPECT_FALSE(automaton(rules).matches("-1e-07"));
  rules.min = bound("0", true);
  EXPECT_TRUE(automaton(rules).matches("0.1e+5"));
  EXPECT_FALSE(automaton(rules).matches("0"));
  EXPECT_FALSE(automaton(rules).matches("0.00e5"));
}

TEST(NumberAutomaton, KnowsMultiples) {
  NumberRules rules;
  rules.multiples_of = {decimal("6")};
  for (int i = -60; i <= 60; ++i) {
    EXPECT_EQ(automaton(rules).matches(std::to_string(i)), i % 6 == 0) << i;
  }
  EXPECT_TRUE(automaton(rules).matches("12.0"));
  rules.multiples_of = {decimal("0.25")};
  EXPECT_TRUE(automaton(rules).matches("1.75"));
  EXPECT_TRUE(automaton(rules).matches("3.50"));
  EXPECT_TRUE(automaton(rules).matches("3.5"));
  EXPECT_FALSE(automaton(rules).matches("3.51"));
  EXPECT_FALSE(automaton(rules).matches("0.1"));
  rules.multiples_of = {decimal("123456.5")};
  EXPECT_THROW(automaton(rules), Error);
}

TEST(NumberAutomaton, IsEmptyWhereNoNumberIs) {
  NumberRules rules;
  rules.min = bound("3");
  rules.max = bound("2");
  EXPECT_TRUE(automaton(rules).empty());
  rules.integer = true;
  rules.min = bound("2.1");
  rules.max = bound("2.9");
  EXPECT_TRUE(automaton(rules).empty());
}

}  // namespace
}  // namespace smol::grammar
