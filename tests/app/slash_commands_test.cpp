#include "app/slash_commands.h"

#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "support/temp_folder.h"

namespace smol::app {
namespace {

using ::testing::HasSubstr;
using Next = Conversation::Next;

Conversation conversation(const std::string& system = "") {
  return Conversation{{}, {.model = "tiny", .context = 1000}, system};
}

chat::Message assistant(const std::string& text) {
  chat::Message message;
  message.role = chat::Role::Assistant;
  message.content = text;
  return message;
}

chat::Message caller(std::size_t n_calls) {
  chat::Message message = assistant("");
  message.tool_calls.assign(n_calls, {.id = "", .name = "f", .arguments = "{}"});
  return message;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Conversation, ALineIsAMessageForTheModel) {
  Conversation chat = conversation();
  EXPECT_EQ(chat.take("Hello").next, Next::Answer);
  ASSERT_EQ(chat.messages().size(), 1U);
  EXPECT_EQ(chat.messages()[0].role, chat::Role::User);
  EXPECT_EQ(chat.messages()[0].content, "Hello");
}

TEST(Conversation, AnEmptyLineIsNothing) {
  Conversation chat = conversation();
  EXPECT_EQ(chat.take("  ").next, Next::Read);
  EXPECT_TRUE(chat.messages().empty());
}

TEST(Conversation, TwoSlashesBeginAMessageWithOne) {
  Conversation chat = conversation();
  EXPECT_EQ(chat.take("//help").next, Next::Answer);
  EXPECT_EQ(chat.messages()[0].content, "/help");
}

TEST(Conversation, InvalidUtf8BecomesReplacementCharacters) {
  Conversation chat = conversation();
  chat.take("a\xff");
  EXPECT_EQ(chat.messages()[0].content, "a\xef\xbf\xbd");
}

TEST(Conversation, AnUnknownCommandIsNamed) {
  EXPECT_THAT(conversation().take("/nonsense").text, HasSubstr("/nonsense: expected a command"));
}

TEST(Conversation, HelpListsEveryCommand) {
  const std::string text = conversation().take("/help").text;
  for (const std::string& name : Conversation::command_names()) {
    EXPECT_THAT(text, HasSubstr(name));
  }
}

TEST(Conversation, ClearKeepsOnlyTheSystemMessage) {
  Conversation chat = conversation("Be brief.");
  chat.take("Hello");
  chat.add_answer(assistant("Hi"), 10);
  chat.take("/clear");
  ASSERT_EQ(chat.messages().size(), 1U);
  EXPECT_EQ(chat.messages()[0].role, chat::Role::System);
}

TEST(Conversation, ThinkingIsSwitched) {
  Conversation chat = conversation();
  EXPECT_EQ(chat.options().prompt.think, chat::ThinkMode::Default);
  chat.take("/no_think");
  EXPECT_EQ(chat.options().prompt.think, chat::ThinkMode::Off);
  chat.take("/think");
  EXPECT_EQ(chat.options().prompt.think, chat::ThinkMode::On);
}

TEST(Conversation, TemperatureIsProven) {
  Conversation chat = conversation();
  chat.take("/temp 0.25");
  EXPECT_EQ(chat.options().answer.sampling.temperature, 0.25);
  EXPECT_THAT(chat.take("/temp nan").text, HasSubstr("/temp: expected a number from 0 to 100"));
  EXPECT_EQ(chat.options().answer.sampling.temperature, 0.25);
}

TEST(Conversation, SystemReplacesAndRemoves) {
  Conversation chat = conversation("One");
  chat.take("Hello");
  chat.take("/system Two words");
  ASSERT_EQ(chat.messages().size(), 2U);
  EXPECT_EQ(chat.messages()[0].content, "Two words");
  chat.take("/system");
  EXPECT_EQ(chat.messages()[0].role, chat::Role::User);
}

TEST(Conversation, UndoTakesTheLastTurnBack) {
  Conversation chat = conversation();
  chat.take("One");
  chat.add_answer(assistant("1"), 10);
  chat.take("Two");
  chat.add_answer(assistant("2"), 20);
  chat.take("/undo");
  ASSERT_EQ(chat.messages().size(), 2U);
  EXPECT_EQ(chat.messages()[1].content, "1");
}

TEST(Conversation, UndoOfNothingSaysSo) {
  EXPECT_THAT(conversation("S").take("/undo").text, HasSubstr("expected a message, found none"));
}

TEST(Conversation, RegenerateAsksForAnotherAnswer) {
  Conversation chat = conversation();
  chat.take("One");
  chat.add_answer(assistant("1"), 10);
  EXPECT_EQ(chat.take("/regenerate").next, Next::Answer);
  EXPECT_EQ(chat.messages().size(), 1U);
  EXPECT_EQ(conversation().take("/regenerate").next, Next::Read);
}

TEST(Conversation, ResultsAnswerEveryOpenCallBeforeTheModelGoesOn) {
  Conversation chat = conversation();
  EXPECT_THAT(chat.take("/result 5").text, HasSubstr("expected a tool call to answer"));
  chat.take("Go");
  chat.add_answer(caller(2), 10);
  EXPECT_EQ(chat.take("/result 5").next, Next::Read);
  EXPECT_EQ(chat.take("/result 6").next, Next::Answer);
  EXPECT_EQ(chat.messages().back().role, chat::Role::Tool);
  EXPECT_EQ(chat.messages().back().content, "6");
}

TEST(Conversation, AMessageThatGotNoAnswerIsTakenBack) {
  Conversation chat = conversation("S");
  chat.take("One");
  chat.drop_unanswered();
  chat.drop_unanswered();
  EXPECT_EQ(chat.messages().size(), 1U);
}

TEST(Conversation, StatusTellsModelAndContext) {
  Conversation chat = conversation();
  chat.take("One");
  chat.add_answer(assistant("1"), 250);
  const std::string text = chat.take("/status").text;
  EXPECT_THAT(text, HasSubstr("tiny"));
  EXPECT_THAT(text, HasSubstr("250 of 1000 tokens (25 %)"));
}

TEST(Conversation, ExportWritesMarkdownOrJson) {
  const test::TempFolder folder;
  Conversation chat = conversation();
  chat.take("One");
  chat.add_answer(assistant("1"), 10);
  chat.take("/export " + (folder.path() / "a.md").string());
  EXPECT_EQ(contents(folder.path() / "a.md"), "## User\n\nOne\n\n## Assistant\n\n1\n\n");
  chat.take("/export " + (folder.path() / "a.json").string());
  const Json json = parse_json(contents(folder.path() / "a.json"), "export");
  EXPECT_EQ(json.at(0).at("content"), "One");
}

TEST(Conversation, ExportNeverOverwrites) {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "a.md").string();
  std::ofstream(path) << "mine";
  EXPECT_THAT(conversation().take("/export " + path).text, HasSubstr("expected no file there"));
  EXPECT_EQ(contents(path), "mine");
}

TEST(Conversation, QuitEnds) {
  EXPECT_EQ(conversation().take("/quit").next, Next::Quit);
  EXPECT_EQ(conversation().take("/exit").next, Next::Quit);
}

}  // namespace
}  // namespace smol::app
