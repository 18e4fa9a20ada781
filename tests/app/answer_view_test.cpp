#include "app/answer_view.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smol::app {
namespace {

using ::testing::HasSubstr;

std::string shown(const std::vector<chat::AnswerEvent>& events, ViewStyle style = {}) {
  std::string out;
  AnswerView view{style, [&out](std::string_view text) { out += text; }};
  for (const chat::AnswerEvent& event : events) {
    view.show(event);
  }
  view.finish();
  return out;
}

chat::ToolCall weather() {
  return {.id = "", .name = "get_weather", .arguments = R"({"city":"Oslo"})"};
}

TEST(AnswerView, ShowsTextAsItComesAndEndsTheLine) {
  EXPECT_EQ(shown({chat::TextDelta{"Hel"}, chat::TextDelta{"lo"}}), "Hello\n");
  EXPECT_EQ(shown({chat::TextDelta{"Hello\n"}}), "Hello\n");
}

TEST(AnswerView, SetsThoughtsApart) {
  EXPECT_EQ(shown({chat::ThinkingDelta{"\nI think"}, chat::ThinkingDelta{" so."},
                   chat::TextDelta{"\n\nYes."}}),
            "[thinking]\nI think so.\n[/thinking]\nYes.\n");
}

TEST(AnswerView, ClosesThoughtsThatWereCut) {
  EXPECT_EQ(shown({chat::ThinkingDelta{"Hm"}}), "[thinking]\nHm\n[/thinking]\n");
}

TEST(AnswerView, ThoughtsAreFaintOnlyWithColour) {
  const std::vector<chat::AnswerEvent> events{chat::ThinkingDelta{"Hm"}};
  EXPECT_THAT(shown(events, {.terminal = true, .colour = true}), HasSubstr("\x1b[2mHm\x1b[0m"));
  EXPECT_THAT(shown(events, {.terminal = true, .colour = false}),
              ::testing::Not(HasSubstr("\x1b")));
}

TEST(AnswerView, NamesToolCallsAndCode) {
  EXPECT_EQ(shown({chat::TextDelta{"Let me see"}, weather(), weather()}),
            "Let me see\n[tool call] get_weather {\"city\":\"Oslo\"}\n"
            "[tool call] get_weather {\"city\":\"Oslo\"}\n");
  EXPECT_EQ(shown({chat::CodeBlock{"print(1)"}}), "[code]\nprint(1)\n[/code]\n");
}

TEST(AnswerView, DisarmsEscapeSequencesOnATerminal) {
  EXPECT_EQ(shown({chat::TextDelta{"\x1b[2J"}}, {.terminal = true, .colour = true}),
            "\xef\xbf\xbd[2J\n");
}

TEST(ToolCallJson, KeepsArgumentsAsJsonAndBrokenOnesAsText) {
  EXPECT_EQ(tool_call_json(weather()), R"({"name":"get_weather","arguments":{"city":"Oslo"}})");
  EXPECT_EQ(tool_call_json({.id = "", .name = "f", .arguments = "{broken"}),
            R"({"name":"f","arguments":"{broken"})");
}

TEST(EndingNote, IsEmptyForANormalEnd) {
  chat::TurnFinished finished;
  EXPECT_EQ(ending_note(finished, 4096), "");
  finished.end = chat::TurnEnd::ContextFull;
  finished.cut_while_thinking = true;
  EXPECT_EQ(ending_note(finished, 4096),
            "[cut while thinking: the context of 4096 tokens is full]");
  finished.end = chat::TurnEnd::MaxTokens;
  finished.usage.generated_tokens = 20;
  EXPECT_EQ(ending_note(finished, 4096), "[cut while thinking: --max-tokens 20 reached]");
}

TEST(StatisticsLine, TellsTokensSpeedReuseAndContext) {
  chat::TurnUsage result;
  result.prompt_tokens = 120;
  result.cached_tokens = 80;
  result.generated_tokens = 40;
  result.decode_time = std::chrono::seconds(2);
  result.prefill_time = std::chrono::milliseconds(500);
  EXPECT_EQ(
      statistics_line(result, 4096),
      "40 tokens, 20.0 tokens/s; prompt 120 tokens, 80 of them reused, 0.50 s; context 160 of "
      "4096");
}

}  // namespace
}  // namespace smol::app
