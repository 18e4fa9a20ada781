// The tree of messages: branches, the active path, pages of it.
#include "store/test_store.h"

namespace smol::store {
namespace {

TEST(MessageTree, FollowsTheNewestTurn) {
  TestStore store;
  const SessionId id = store.talk("a", "1").session;
  store.talk(id, "b", "2");
  EXPECT_EQ(store.path_text(id), "a/1/b/2");
}

TEST(MessageTree, MakesAnEditASiblingAndComesBackToTheOther) {
  TestStore store;
  const Turn first = store.talk("a", "1");
  const SessionId id = first.session;
  const Turn second = store.talk(id, "b", "2");
  const Turn edit = store->begin_edit(*second.question, says("c")).value();
  store.finish(edit, "3");
  EXPECT_EQ(store.path_text(id), "a/1/c/3");

  const Branch branch = store->message(*edit.question).branch;
  EXPECT_EQ(branch.index, 2U);
  EXPECT_EQ(branch.count, 2U);
  EXPECT_EQ(branch.previous, second.question);
  EXPECT_EQ(branch.next, std::nullopt);
  store->select(*second.question);
  EXPECT_EQ(store.path_text(id), "a/1/b/2");
  EXPECT_EQ(store->message(*second.question).branch.next, edit.question);
  EXPECT_EQ(store->last_message(id), second.answer);
}

TEST(MessageTree, EditsTheFirstMessageToo) {
  TestStore store;
  const Turn first = store.talk("a", "1");
  const Turn edit = store->begin_edit(*first.question, says("b")).value();
  store.finish(edit, "2");
  store.talk("another session", "is no sibling");
  EXPECT_EQ(store.path_text(first.session), "b/2");
  EXPECT_EQ(store->message(*edit.question).branch.count, 2U);
}

TEST(MessageTree, AnswersAgainBesideTheAnswerOrBelowTheQuestion) {
  TestStore store;
  const Turn first = store.talk("a", "1");
  const Turn second = store->begin_regeneration(first.answer, false).value();
  store.finish(second, "2");
  const Turn third = store->begin_regeneration(*first.question, true).value();
  store.finish(third, "3");
  EXPECT_EQ(store.path_text(first.session), "a/3");
  const Branch branch = store->message(second.answer).branch;
  EXPECT_EQ(branch.index, 2U);
  EXPECT_EQ(branch.count, 3U);
  EXPECT_EQ(branch.previous, first.answer);
  EXPECT_EQ(branch.next, third.answer);
  EXPECT_FALSE(store->message(second.answer).think);
}

TEST(MessageTree, RefusesWhatCannotBeEditedOrContinued) {
  TestStore store;
  const Turn turn = store.talk("a", "1");
  const MessageId note = store->add_note(turn.session, {"Forgotten"}).value();
  EXPECT_EQ(error_of([&] { store->begin_edit(turn.answer, says("x")); }), ErrorCode::BadInput);
  EXPECT_EQ(error_of([&] { store->begin_regeneration(note, true); }), ErrorCode::BadInput);
  EXPECT_EQ(error_of([&] { store->begin_continuation(*turn.question); }), ErrorCode::BadInput);
  EXPECT_EQ(error_of([&] { store->begin_continuation(turn.answer); }), ErrorCode::BadInput);
  EXPECT_EQ(store.path_text(turn.session), "a/1/Forgotten");
}

TEST(MessageTree, ReadsAThousandMessagesPageByPage) {
  TestStore store;
  const SessionId id = store.talk("0", "1").session;
  for (int i = 2; i < 1000; i += 2) {
    store.talk(id, std::to_string(i), std::to_string(i + 1));
  }
  Page page = store->newest_messages(id, 30);
  int expected = 999;
  for (;;) {
    ASSERT_FALSE(page.messages.empty());
    for (std::size_t i = page.messages.size(); i > 0; --i) {
      ASSERT_EQ(TestStore::text_of(page.messages[i - 1]), std::to_string(expected--));
    }
    if (!page.older_than) {
      break;
    }
    EXPECT_EQ(*page.older_than, page.messages.front().id);
    EXPECT_EQ(page.messages.size(), 30U);
    page = store->messages_before(*page.older_than, 30);
  }
  EXPECT_EQ(expected, -1);
}

TEST(MessageTree, HasNoOlderPageWhenAllFits) {
  TestStore store;
  const SessionId id = store.talk("a", "1").session;
  EXPECT_EQ(store->newest_messages(id, 2).older_than, std::nullopt);
  EXPECT_EQ(store->newest_messages(id, 1).messages.size(), 1U);
  EXPECT_TRUE(store->newest_messages(id, 1).older_than.has_value());
}

TEST(MessageTree, ReadsWhatStandsBehindAMessageOfTheActivePathOnly) {
  TestStore store;
  const Turn first = store.talk("a", "1");
  const Turn second = store.talk(first.session, "b", "2");
  const auto after = store->messages_after(first.answer).value();
  ASSERT_EQ(after.size(), 2U);
  EXPECT_EQ(after[0].id, *second.question);
  EXPECT_TRUE(store->messages_after(second.answer).value().empty());
  const Turn edit = store->begin_edit(*second.question, says("c")).value();
  store.finish(edit, "3");
  EXPECT_EQ(store->messages_after(second.answer), std::nullopt);
}

TEST(MessageTree, ReadsThePathUpToAMessage) {
  TestStore store;
  const Turn first = store.talk("a", "1");
  const Turn second = store.talk(first.session, "b", "2");
  const auto path = store->messages_up_to(*second.question);
  ASSERT_EQ(path.size(), 3U);
  EXPECT_EQ(path[2].text, "b");
}

TEST(MessageTree, KeepsAttachmentsWithTheirTokens) {
  TestStore store;
  const UserInput input{"read this", {{"a.txt", "alpha", 2}, {"b.md", "", 0}}, true};
  const Turn turn = store->begin_session({{}, kDate}, input);
  store.reopen();
  const Message message = store->message(*turn.question);
  EXPECT_EQ(message.text, "read this");
  EXPECT_EQ(message.attachments, input.attachments);
}

TEST(MessageTree, KeepsANoteWithItsSummary) {
  TestStore store;
  const SessionId id = store.talk("a", "1").session;
  const MessageId note = store->add_note(id, {"Compacted", "They said a and 1."}).value();
  store.talk(id, "b", "2");
  EXPECT_EQ(store.path_text(id), "a/1/Compacted/b/2");
  EXPECT_EQ(store->message(note).role, Role::Note);
  EXPECT_EQ(store->message(note).summary, "They said a and 1.");
}

}  // namespace
}  // namespace smol::store
