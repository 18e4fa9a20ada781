#include "app/options.h"

#include <fstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/temp_folder.h"

namespace smol::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string write_file(const test::TempFolder& folder, const std::string& text) {
  std::string path = (folder.path() / "file.json").string();
  std::ofstream(path) << text;
  return path;
}

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void parse(CLI::App& app, const std::vector<std::string>& arguments) {
  app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
}

TEST(ParseIds, TakesSpacesAroundCommas) {
  EXPECT_THAT(parse_ids("--ids", "1, 2,3 "), ElementsAre(1, 2, 3));
}

TEST(ParseIds, RefusesWhatIsNoId) {
  for (const char* text : {"", "1,", ",1", "1;2", "-1", "2147483648", "1.5", "a"}) {
    EXPECT_THAT(message_of([&] { parse_ids("--ids", text); }), HasSubstr("--ids: expected"))
        << text;
  }
}

TEST(ParseLogitBias, TakesIdAndBias) {
  const engine::LogitBias bias = parse_logit_bias("--logit-bias", "128=-5.5");
  EXPECT_EQ(bias.id, 128);
  EXPECT_EQ(bias.bias, -5.5);
}

TEST(ParseLogitBias, RefusesOtherForms) {
  for (const char* text : {"128", "128:5", "=5", "128=", "x=5", "128=nan", "128=101", "-1=5"}) {
    EXPECT_THAT(message_of([&] { parse_logit_bias("--logit-bias", text); }),
                HasSubstr("--logit-bias"))
        << text;
  }
}

TEST(SamplingDefaults, AreSmolLm3sForItsArchitecture) {
  model::ModelConfig config;
  config.architecture = "smollm3";
  const engine::SamplingSettings settings = sampling_settings({}, config);
  EXPECT_EQ(settings.temperature, 0.6);
  EXPECT_EQ(settings.top_p, 0.95);
}

TEST(SamplingDefaults, AreOffForOthers) {
  model::ModelConfig config;
  config.architecture = "llama";
  const engine::SamplingSettings settings = sampling_settings({}, config);
  EXPECT_EQ(settings.temperature, 1.0);
  EXPECT_EQ(settings.top_p, 1.0);
}

TEST(SamplingDefaults, GiveWayToWhatWasAskedFor) {
  AnswerOptions options;
  options.temperature = 0.0;
  model::ModelConfig config;
  config.architecture = "smollm3";
  EXPECT_EQ(sampling_settings(options, config).temperature, 0.0);
}

TEST(ComputeOptions, ContextIsANumberOrAuto) {
  ModelOptions options;
  CLI::App app;
  add_compute_options(app, options);
  parse(app, {"--context", "auto"});
  EXPECT_TRUE(std::holds_alternative<AutoContext>(options.context));
  parse(app, {"--context", "2048"});
  EXPECT_EQ(std::get<std::size_t>(options.context), 2048U);
}

TEST(ComputeOptions, ABadContextSaysThatAutoWouldDo) {
  ModelOptions options;
  CLI::App app;
  add_compute_options(app, options);
  for (const char* text : {"0", "-1", "all", "99999999999999999999", "1e4"}) {
    EXPECT_THAT(message_of([&] {
                  parse(app, {"--context", text});
                }),
                HasSubstr("--context: expected auto or a whole number from 1 to"))
        << text;
  }
}

TEST(ConversationOptions, TheLastOfThinkAndNoThinkIsKept) {
  ConversationOptions options;
  CLI::App app;
  add_conversation_options(app, options);
  parse(app, {"--no-think"});
  EXPECT_EQ(prompt_options(options).think, chat::ThinkMode::Off);
}

TEST(ConversationOptions, LeaveThinkingToTheTemplateByDefault) {
  EXPECT_EQ(prompt_options({}).think, chat::ThinkMode::Default);
}

TEST(ConversationOptions, PythonToolsAreAListOfStrings) {
  const test::TempFolder folder;
  ConversationOptions options;
  options.python_tools = write_file(folder, R"(["f(x) -> int: doubles"])");
  EXPECT_THAT(prompt_options(options).python_tools, ElementsAre("f(x) -> int: doubles"));
  options.python_tools = write_file(folder, R"({"f": 1})");
  EXPECT_THAT(message_of([&] { prompt_options(options); }),
              HasSubstr("expected a list of strings (Python signatures), found object"));
  options.python_tools = write_file(folder, R"([1])");
  EXPECT_THAT(message_of([&] { prompt_options(options); }), HasSubstr("found number in it"));
}

TEST(ConversationOptions, ToolsNameTheFlagWhereTheFileIsBroken) {
  const test::TempFolder folder;
  ConversationOptions options;
  options.tools = folder.path() / "absent.json";
  EXPECT_THAT(message_of([&] { prompt_options(options); }), HasSubstr("--tools"));
  options.tools = write_file(folder, "[{");
  EXPECT_THAT(message_of([&] { prompt_options(options); }), HasSubstr("--tools"));
}

}  // namespace
}  // namespace smol::app
