// Turns: saving a running answer, ending it, and what a restart makes of it.
#include "store/test_store.h"

namespace smol::store {
namespace {

Answer running(std::string_view text) {
  Answer answer;
  answer.parts.emplace_back(TextPart{std::string(text)});
  return answer;
}

Answer whole_answer() {
  Answer answer;
  answer.state = AnswerState::Limit;
  answer.parts.emplace_back(ThinkingPart{"let me see", 3, Milliseconds(1200)});
  answer.parts.emplace_back(ToolPart{"call_1", "calculator", R"({"expression": "2+2"})",
                                     ToolState::Done, "4", Milliseconds(0)});
  answer.parts.emplace_back(ToolPart{"call_2", "time", "{}", ToolState::Denied, "", std::nullopt});
  answer.parts.emplace_back(TextPart{"It is 4."});
  answer.figures = {31, Milliseconds(2000), 120, 100, Milliseconds(400)};
  answer.limit = 512;
  answer.written = {{{"<tool_call>", true}, {"{}", false}}, {{"It is 4.", false}}};
  return answer;
}

// An answer that waits for the permission to make its second call.
Answer asking() {
  Answer answer;
  answer.parts.emplace_back(ToolPart{"call_1", "time", "{}", ToolState::Running, "", std::nullopt});
  answer.parts.emplace_back(
      ToolPart{"call_2", "calculator", "{}", ToolState::Asking, "", std::nullopt});
  return answer;
}

ToolState call_state(const Message& message, std::size_t part) {
  return std::get<ToolPart>(message.answer.parts.at(part)).state;
}

TEST(Turn, AllowsOneAtATimeInASession) {
  TestStore store;
  const Turn turn = store->begin_session({{}, kDate}, says("a"));
  EXPECT_EQ(store->begin_turn(turn.session, says("b")), std::nullopt);
  EXPECT_EQ(store->begin_edit(*turn.question, says("b")), std::nullopt);
  EXPECT_EQ(store->begin_regeneration(*turn.question, true), std::nullopt);
  EXPECT_EQ(store->begin_continuation(turn.answer), std::nullopt);
  EXPECT_EQ(store->add_note(turn.session, {"x"}), std::nullopt);
  EXPECT_EQ(store->running_turn(turn.session).value().answer, turn.answer);
  EXPECT_EQ(store.path_text(turn.session), "a/");
  const Turn other = store->begin_session({{}, kDate}, says("other"));
  EXPECT_GT(other.id, turn.id);
}

TEST(Turn, SavesAnAnswerWithAllItsPartsAndFigures) {
  TestStore store;
  const Turn turn = store->begin_session({{}, kDate}, says("a"));
  store->save(turn.id, running("It"));
  EXPECT_EQ(store->message(turn.answer).answer, running("It"));
  store->save(turn.id, whole_answer());
  store.reopen();
  EXPECT_EQ(store->message(turn.answer).answer, whole_answer());
  EXPECT_EQ(store->message(turn.answer).turn, turn.id);
  EXPECT_EQ(store->running_turn(turn.session), std::nullopt);
  EXPECT_DOUBLE_EQ(tokens_per_second(store->message(turn.answer).answer.figures), 15.5);
}

TEST(Turn, TakesBackPartsThatAreNoLongerThere) {
  TestStore store;
  const Turn turn = store->begin_session({{}, kDate}, says("a"));
  store->save(turn.id, whole_answer());
  const Turn again = store->begin_continuation(turn.answer).value();
  store->save(again.id, running("short"));
  EXPECT_EQ(store->message(turn.answer).answer.parts.size(), 1U);
}

TEST(Turn, KeepsAnError) {
  TestStore store;
  const Turn turn = store->begin_session({{}, kDate}, says("a"));
  Answer answer = running("half");
  answer.state = AnswerState::Error;
  answer.error = {"The context is full.", "/compact makes room."};
  store->save(turn.id, answer);
  EXPECT_EQ(store->message(turn.answer).answer, answer);
}

TEST(Turn, EndsWithANoteBelowItsAnswerInOneStep) {
  TestStore store;
  const Turn turn = store->begin_session({{}, kDate}, says("a"));
  Answer answer = whole_answer();
  const MessageId note = store->save_with_note(turn.id, answer, {"Compacted", "in short"});
  EXPECT_EQ(store->message(turn.answer).answer, answer);
  EXPECT_EQ(store->message(note).parent, turn.answer);
  EXPECT_EQ(store->message(note).summary, "in short");
  EXPECT_EQ(store->last_message(turn.session), note);
  EXPECT_EQ(store->running_turn(turn.session), std::nullopt);
  EXPECT_EQ(error_of([&] { store->save_with_note(turn.id, answer, {"Late"}); }),
            ErrorCode::NotFound);
  EXPECT_EQ(store->last_message(turn.session), note);
}

TEST(Turn, RefusesToSaveAfterItsEnd) {
  TestStore store;
  const Turn turn = store.talk("a", "1");
  std::string message;
  EXPECT_EQ(error_of([&] { store->save(turn.id, running("late")); }, &message),
            ErrorCode::NotFound);
  EXPECT_EQ(message, "turn: expected the id of a running turn, found " + std::to_string(turn.id));
  EXPECT_EQ(store.path_text(turn.session), "a/1");
}

TEST(Turn, IsMarkedAsInterruptedByARestartAndCanGoOn) {
  TestStore store;
  const Turn turn = store->begin_session({{}, kDate}, says("a"));
  store->save(turn.id, running("once upon"));
  store.reopen();
  const Message message = store->message(turn.answer);
  EXPECT_EQ(message.answer.state, AnswerState::Interrupted);
  EXPECT_EQ(TestStore::text_of(message), "once upon");
  EXPECT_EQ(store->search("upon", 10).total, 1U);

  const Turn more = store->begin_continuation(turn.answer).value();
  EXPECT_EQ(more.answer, turn.answer);
  EXPECT_GT(more.id, turn.id);
  EXPECT_EQ(store->message(turn.answer).answer.state, AnswerState::Running);
  store.finish(more, "once upon a time");
  EXPECT_EQ(store.path_text(turn.session), "a/once upon a time");
  EXPECT_EQ(store->search("a time", 10).total, 1U);
}

TEST(Turn, FindsACallByItsId) {
  TestStore store;
  const Turn turn = store->begin_session({{}, kDate}, says("a"));
  store->save(turn.id, asking());
  const FoundCall found = store->find_call("call_2").value();
  EXPECT_EQ(found.message, turn.answer);
  EXPECT_EQ(found.index, 1U);
  EXPECT_EQ(found.call.state, ToolState::Asking);
  EXPECT_EQ(store->find_call("call_3"), std::nullopt);
}

TEST(Turn, LeavesNoCallOpenWhenItEnds) {
  TestStore store;
  const Turn turn = store->begin_session({{}, kDate}, says("a"));
  Answer answer = asking();
  store->save(turn.id, answer);
  EXPECT_EQ(call_state(store->message(turn.answer), 1), ToolState::Asking);
  answer.state = AnswerState::Stopped;
  store->save(turn.id, answer);
  EXPECT_EQ(call_state(store->message(turn.answer), 0), ToolState::Failed);
  EXPECT_EQ(call_state(store->message(turn.answer), 1), ToolState::Failed);
}

TEST(Turn, LeavesNoCallOpenWhenARestartInterruptsIt) {
  TestStore store;
  const Turn turn = store->begin_session({{}, kDate}, says("a"));
  store->save(turn.id, asking());
  store.reopen();
  EXPECT_EQ(call_state(store->message(turn.answer), 0), ToolState::Failed);
  EXPECT_EQ(call_state(store->message(turn.answer), 1), ToolState::Failed);
}

TEST(Turn, BeginsWithTheQueuedMessageOnce) {
  TestStore store;
  const Turn first = store->begin_session({{}, kDate}, says("a"));
  store->add_queued(first.session, UserInput{"b", {{"n.txt", "words", 1}}, false});
  EXPECT_EQ(store->begin_queued_turn(first.session), std::nullopt);
  EXPECT_TRUE(store->queued(first.session).has_value());
  store.finish(first, "1");
  const Turn second = store->begin_queued_turn(first.session).value();
  EXPECT_EQ(store->queued(first.session), std::nullopt);
  store.finish(second, "2");
  EXPECT_EQ(store.path_text(first.session), "a/1/b/2");
  EXPECT_EQ(store->message(*second.question).attachments.at(0).text, "words");
  EXPECT_FALSE(store->message(second.answer).think);
  EXPECT_EQ(store->begin_queued_turn(first.session), std::nullopt);
}

TEST(Turn, RefusesAnAnswerThatIsNoUtf8AndKeepsWhatWasSaved) {
  TestStore store;
  const Turn turn = store->begin_session({{}, kDate}, says("a"));
  store->save(turn.id, running("good"));
  EXPECT_EQ(error_of([&] { store->save(turn.id, running("\xFF")); }), ErrorCode::BadInput);
  EXPECT_EQ(store->message(turn.answer).answer, running("good"));
}

}  // namespace
}  // namespace smol::store
