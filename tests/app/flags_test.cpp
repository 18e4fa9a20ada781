#include "app/flags.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace smol::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A variable of the environment, for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }

  ~Variable() { ::unsetenv(name_); }

  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

class Flags : public ::testing::Test {
 protected:
  // CLI11 takes the arguments in reverse order.
  void parse(std::vector<std::string> arguments) {
    app_.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  }

  std::string error_of(const std::vector<std::string>& arguments) {
    try {
      parse(arguments);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }

  CLI::App app_;
};

TEST(EnvironmentName, FollowsTheLongName) {
  EXPECT_EQ(environment_name("--top-p"), "SMOLBOT_TOP_P");
  EXPECT_EQ(environment_name("-p,--prompt-tokens"), "SMOLBOT_PROMPT_TOKENS");
}

TEST_F(Flags, ANumberIsTakenFromTheFlag) {
  double value = 0.5;
  add_number(app_, {"--top-p", "help", "0.5"}, {0.0, 1.0}, value);
  parse({"--top-p", "0.25"});
  EXPECT_EQ(value, 0.25);
}

TEST_F(Flags, ANegativeNumberIsAValueAndNoFlag) {
  double value = 0.0;
  add_number(app_, {"--presence-penalty", "help", "0"}, {-2.0, 2.0}, value);
  parse({"--presence-penalty", "-0.5"});
  EXPECT_EQ(value, -0.5);
}

TEST_F(Flags, TheVariableServesWhereTheFlagIsNotGiven) {
  const Variable variable{"SMOLBOT_TOP_P", "0.75"};
  double value = 0.5;
  add_number(app_, {"--top-p", "help", "0.5"}, {0.0, 1.0}, value);
  parse({});
  EXPECT_EQ(value, 0.75);
}

TEST_F(Flags, TheFlagCountsMoreThanTheVariable) {
  const Variable variable{"SMOLBOT_TOP_P", "0.75"};
  double value = 0.5;
  add_number(app_, {"--top-p", "help", "0.5"}, {0.0, 1.0}, value);
  parse({"--top-p", "0.25"});
  EXPECT_EQ(value, 0.25);
}

TEST_F(Flags, ABadVariableIsNamedAsSuch) {
  const Variable variable{"SMOLBOT_TOP_P", "nan"};
  double value = 0.5;
  add_number(app_, {"--top-p", "help", "0.5"}, {0.0, 1.0}, value);
  EXPECT_EQ(error_of({}), "SMOLBOT_TOP_P: expected a number from 0 to 1, found \"nan\"");
}

TEST_F(Flags, TheLastOneGivenCounts) {
  std::size_t value = 0;
  add_count(app_, {"--seed", "help", "0"}, {0, 100}, value);
  parse({"--seed", "1", "--seed", "2"});
  EXPECT_EQ(value, 2U);
}

TEST_F(Flags, AListTakesEachOneGiven) {
  std::vector<std::string> stops;
  add_list(app_, {"--stop", "help", "none"}, "TEXT",
           [&stops](const auto&, const auto& text) { stops.push_back(text); });
  parse({"--stop", "a", "--stop", "b c"});
  EXPECT_THAT(stops, ElementsAre("a", "b c"));
}

TEST_F(Flags, ASwitchIsOnWhereGivenAndTakesItsVariable) {
  bool flag = false;
  add_switch(app_, {"--raw", "help", "off"}, [&flag](bool on) { flag = on; });
  parse({"--raw"});
  EXPECT_TRUE(flag);
  const Variable variable{"SMOLBOT_RAW", "0"};
  parse({});
  EXPECT_FALSE(flag);
}

TEST_F(Flags, OfTwoOppositesTheLastOneGivenCountsAndBeforeTheVariables) {
  const Variable variable{"SMOLBOT_NO_THINK", "1"};
  std::optional<bool> think;
  add_opposites(app_, {"--think", "help", ""}, {"--no-think", "help", ""},
                [&think](bool on) { think = on; });
  parse({});
  EXPECT_EQ(think, false);
  parse({"--think"});
  EXPECT_EQ(think, true);
  parse({"--think", "--no-think"});
  EXPECT_EQ(think, false);
  parse({"--no-think", "--think"});
  EXPECT_EQ(think, true);
}

TEST_F(Flags, AFlagOfOneCommandHasAVariableOfItsOwn) {
  EXPECT_EQ(environment_name(Flag{"-o,--output", "", "", "bench"}), "SMOLBOT_BENCH_OUTPUT");
  EXPECT_EQ(environment_name(Flag{"-o,--output", "", ""}), "SMOLBOT_OUTPUT");
}

TEST_F(Flags, ASwitchRefusesAStrangeVariable) {
  const Variable variable{"SMOLBOT_RAW", "maybe"};
  add_switch(app_, {"--raw", "help", "off"}, [](bool) {});
  EXPECT_THAT(error_of({}), HasSubstr("SMOLBOT_RAW: expected 1 or 0, found \"maybe\""));
}

TEST_F(Flags, AChoiceNamesWhatMayBeGiven) {
  int value = 0;
  add_choice<int>(app_, {"--kv-type", "help", "f16"}, {{"f16", 16}, {"f32", 32}}, value);
  EXPECT_EQ(error_of({"--kv-type", "q8"}), "--kv-type: expected one of f16, f32, found \"q8\"");
  parse({"--kv-type", "f32"});
  EXPECT_EQ(value, 32);
}

TEST_F(Flags, HelpShowsDefaultAndVariable) {
  double value = 0.5;
  add_number(app_, {"--top-p", "what it does", "0.95"}, {0.0, 1.0}, value);
  const std::string help = app_.help();
  EXPECT_THAT(help, HasSubstr("what it does"));
  EXPECT_THAT(help, HasSubstr("0.95"));
  EXPECT_THAT(help, HasSubstr("SMOLBOT_TOP_P"));
}

}  // namespace
}  // namespace smol::app
