#include "store/prompt_messages.h"

#include "store/test_store.h"

namespace smol::store {
namespace {

Message user(std::string text) {
  Message message;
  message.text = std::move(text);
  return message;
}

Message assistant(std::vector<Part> parts) {
  Message message;
  message.role = Role::Assistant;
  message.answer.parts = std::move(parts);
  return message;
}

Message note(std::string summary) {
  Message message;
  message.role = Role::Note;
  message.summary = std::move(summary);
  return message;
}

TEST(PromptMessages, BeginWithTheSystemPromptAndPutFilesBeforeTheText) {
  Message question = user("What is in it?");
  question.attachments = {{"a.txt", "alpha", 1}, {"b.txt", "beta\n", 1}};
  const auto messages = prompt_messages("Be brief.", std::vector{question});
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].role, chat::Role::System);
  EXPECT_EQ(messages[0].content, "Be brief.");
  EXPECT_EQ(messages[1].content, "File a.txt:\n\nalpha\n\nFile b.txt:\n\nbeta\n\nWhat is in it?");
  EXPECT_EQ(prompt_messages("", std::vector{question}).size(), 1U);
}

TEST(PromptMessages, MakeAMessageOfEachRoundWithItsResultsBehindIt) {
  Message answer =
      assistant({ThinkingPart{"hm", 1, Milliseconds(0)}, TextPart{"Let me see."},
                 ToolPart{"k1", "f", "{}", ToolState::Done, "one", std::nullopt},
                 ToolPart{"k2", "g", "{}", ToolState::Denied, "", std::nullopt}, TextPart{"So."}});
  answer.answer.written = {{{"first", false}}, {{"second", false}}};
  const auto messages = prompt_messages("", std::vector{user("a"), answer});
  ASSERT_EQ(messages.size(), 5U);
  EXPECT_EQ(messages[1].content, "Let me see.");
  EXPECT_EQ(messages[1].reasoning, "hm");
  EXPECT_EQ(messages[1].tool_calls.size(), 2U);
  EXPECT_EQ(messages[1].written.at(0).text, "first");
  EXPECT_EQ(messages[2].role, chat::Role::Tool);
  EXPECT_EQ(messages[2].content, "one");
  EXPECT_EQ(messages[2].tool_call_id, "k1");
  EXPECT_EQ(messages[3].content, "The user did not allow this call.");
  EXPECT_EQ(messages[4].content, "So.");
  EXPECT_EQ(messages[4].written.at(0).text, "second");
}

TEST(PromptMessages, ForgetWhatStandsAboveTheLastNote) {
  const std::vector<Message> path{user("a"), assistant({TextPart{"1"}}), note("old"),
                                  user("b"), note("They said b."),       user("c")};
  const auto messages = prompt_messages("S", path);
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[1].role, chat::Role::System);
  EXPECT_EQ(messages[1].content, "What was said before, in short:\nThey said b.");
  EXPECT_EQ(messages[2].content, "c");
  EXPECT_EQ(prompt_messages("", std::vector{user("a"), note(""), user("b")}).size(), 1U);
}

TEST(PromptMessages, LeaveOutTheOldestBehindTheNoteWhereAsked) {
  const std::vector<Message> path{user("a"), note("They said a."), user("b"),
                                  assistant({TextPart{"1"}}), user("c")};
  const auto messages = prompt_messages("S", path, 2);
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[1].content, "What was said before, in short:\nThey said a.");
  EXPECT_EQ(messages[2].content, "c");
  EXPECT_EQ(prompt_messages("S", path, 9).size(), 2U);
  EXPECT_EQ(behind_last_note(path).size(), 3U);
  EXPECT_EQ(behind_last_note(std::span(path).first(1)).size(), 1U);
}

TEST(PromptMessages, LeaveOutAnAnswerWithoutWords) {
  EXPECT_EQ(prompt_messages("", std::vector{user("a"), assistant({})}).size(), 1U);
}

}  // namespace
}  // namespace smol::store
