// Deleting, undo, and that nothing is left when undo is over.
#include <random>
#include <sqlite3.h>

#include "store/test_store.h"

namespace smol::store {
namespace {

constexpr auto kOver = SessionStore::kUndoTime;

TEST(Deletion, HidesASessionUntilItIsBroughtBack) {
  TestStore store;
  const SessionId id = store.talk("hello", "1").session;
  const Deletion deletion = store->erase_session(id);
  EXPECT_TRUE(store->sessions(false).empty());
  EXPECT_EQ(store->counts().sessions, 0U);
  EXPECT_EQ(store->search("hello", 10).total, 0U);
  EXPECT_EQ(store->newest_session(), std::nullopt);
  EXPECT_EQ(error_of([&] { store->session(id); }), ErrorCode::NotFound);
  EXPECT_EQ(error_of([&] { store->erase_session(id); }), ErrorCode::NotFound);

  store.now += kOver - Milliseconds(1);
  EXPECT_TRUE(store->purge()) << "what can be undone is still to be removed";
  const auto back = store->undo(deletion.id);
  ASSERT_TRUE(back.has_value());
  EXPECT_FALSE(store->purge());
  EXPECT_EQ(back->session, id);
  EXPECT_EQ(store.path_text(id), "hello/1");
  EXPECT_EQ(store->undo(deletion.id), std::nullopt);
}

TEST(Deletion, CannotBeUndoneAfterItsTime) {
  TestStore store;
  const SessionId id = store.talk("hello", "1").session;
  const Deletion deletion = store->erase_session(id);
  store.now += kOver;
  EXPECT_EQ(store->undo(deletion.id), std::nullopt);
  EXPECT_TRUE(store->purge());
  EXPECT_FALSE(store->purge());
}

TEST(Deletion, IsListedUntilItIsUndoneOrRemoved) {
  TestStore store;
  const SessionId id = store.talk("hello", "1").session;
  const Turn other = store.talk("else", "2");
  store->undo(store->erase_session(id).id);
  EXPECT_TRUE(store->deletions().empty());
  store->erase_session(id);
  store->erase_message(other.answer);
  const std::vector<Deletion> listed = store->deletions();
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].session, id);
  EXPECT_EQ(listed[0].message, std::nullopt);
  EXPECT_EQ(listed[1].message, other.answer);
  store.now += kOver;
  EXPECT_TRUE(store->purge());
  EXPECT_TRUE(store->deletions().empty());
}

TEST(Deletion, TakesAMessageWithAllBelowAndBringsItBack) {
  TestStore store;
  const Turn first = store.talk("a", "1");
  const SessionId id = first.session;
  const Turn second = store.talk(id, "b", "2");
  store.talk(id, "c", "3");
  const Deletion deletion = store->erase_message(*second.question);
  EXPECT_EQ(store.path_text(id), "a/1");
  EXPECT_EQ(error_of([&] { store->message(second.answer); }), ErrorCode::NotFound);
  EXPECT_EQ(store->undo(deletion.id).value().message, second.question);
  EXPECT_EQ(store.path_text(id), "a/1/b/2/c/3");
}

TEST(Deletion, ShowsTheOtherBranchWhenOneIsDeleted) {
  TestStore store;
  const Turn first = store.talk("a", "1");
  const Turn edit = store->begin_edit(*first.question, says("b")).value();
  store.finish(edit, "2");
  store->erase_message(*edit.question);
  EXPECT_EQ(store.path_text(first.session), "a/1");
  EXPECT_EQ(store->message(*first.question).branch.count, 1U);
}

TEST(Deletion, LeavesAnEmptySessionWhenTheFirstMessageGoes) {
  TestStore store;
  const Turn first = store.talk("a", "1");
  store->erase_message(*first.question);
  EXPECT_EQ(store.path_text(first.session), "");
  EXPECT_EQ(store->last_message(first.session), std::nullopt);
  store.talk(first.session, "b", "2");
  EXPECT_EQ(store.path_text(first.session), "b/2");
}

TEST(Deletion, BringsNothingBackBelowWhatIsDeleted) {
  TestStore store;
  const Turn first = store.talk("a", "1");
  const Turn second = store.talk(first.session, "b", "2");
  const Deletion inner = store->erase_message(*second.question);
  const Deletion outer = store->erase_message(*first.question);
  EXPECT_EQ(store->undo(inner.id), std::nullopt);
  store.now += kOver;
  EXPECT_TRUE(store->purge());
  EXPECT_EQ(store->undo(outer.id), std::nullopt);
  EXPECT_EQ(store.path_text(first.session), "");
}

TEST(Deletion, BringsBackABranchThatNobodyReadsWithoutShowingIt) {
  TestStore store;
  const Turn first = store.talk("a", "1");
  const Turn edit = store->begin_edit(*first.question, says("b")).value();
  store.finish(edit, "2");
  const Deletion deletion = store->erase_message(*first.question);
  store.talk(first.session, "c", "3");
  EXPECT_TRUE(store->undo(deletion.id).has_value());
  EXPECT_EQ(store.path_text(first.session), "b/2/c/3");
  EXPECT_EQ(store->message(*edit.question).branch.count, 2U);
}

TEST(Deletion, ShowsWhatComesBackWhenNothingElseIsLeft) {
  TestStore store;
  const Turn first = store.talk("a", "1");
  const Turn edit = store->begin_edit(*first.question, says("b")).value();
  store.finish(edit, "2");
  const Deletion aside = store->erase_message(*first.question);
  store->erase_message(*edit.question);
  EXPECT_EQ(store.path_text(first.session), "");
  EXPECT_TRUE(store->undo(aside.id).has_value());
  EXPECT_EQ(store.path_text(first.session), "a/1");
  store.now += kOver;
  EXPECT_TRUE(store->purge());
  EXPECT_EQ(store.path_text(first.session), "a/1");
}

TEST(Deletion, TakesTheTitleThatWasTheMessagesFirstLine) {
  TestStore store;
  const Turn first = store.talk("geheimnis", "1");
  store.talk(first.session, "the rest", "2");
  const Turn edit = store->begin_edit(*first.question, says("other")).value();
  store.finish(edit, "3");
  const Deletion deletion = store->erase_message(*first.question);
  EXPECT_EQ(store->session(first.session).title, "other");
  store->undo(deletion.id);
  EXPECT_EQ(store->session(first.session).title, "geheimnis");
  store->erase_message(*first.question);
  store->erase_message(*edit.question);
  EXPECT_EQ(store->session(first.session).title, "New conversation");
  store.now += kOver;
  EXPECT_TRUE(store->purge());
  EXPECT_FALSE(folder_holds(store.path(), "geheimnis"));
}

TEST(Deletion, LeavesATitleThatAPersonGave) {
  TestStore store;
  const Turn turn = store.talk("a", "1");
  store->rename(turn.session, "Mine");
  store->erase_message(*turn.question);
  EXPECT_EQ(store->session(turn.session).title, "Mine");
}

TEST(Deletion, EndsARunningTurnOnlyWhenItIsOver) {
  TestStore store;
  const Turn turn = store->begin_session({{}, kDate}, says("a"));
  store->erase_session(turn.session);
  Answer answer;
  answer.parts.emplace_back(TextPart{"still writing"});
  store->save(turn.id, answer);
  store.now += kOver;
  store->purge();
  EXPECT_EQ(error_of([&] { store->save(turn.id, answer); }), ErrorCode::NotFound);
}

TEST(Deletion, RemovesAChainOfMoreThanAThousandMessages) {
  TestStore store;
  const Turn first = store.talk("0", "1");
  for (int i = 0; i < 700; ++i) {
    store.talk(first.session, "question", "answer");
  }
  store->erase_message(*first.question);
  store.now += kOver;
  EXPECT_TRUE(store->purge());
  EXPECT_TRUE(store->transcript(first.session).entries.empty());
}

std::string secret(int i) {
  return "geheimnis" + std::to_string(1000 + i) + "-";
}

// Text that grows as an answer does, so that rows move between pages.
void write_slowly(TestStore& store, const Turn& turn, const std::string& word) {
  Answer answer;
  std::string text;
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 40; ++j) {
      text += word;
    }
    answer.parts = {ThinkingPart{word + "thought", 3, Milliseconds(5)}, TextPart{text},
                    ToolPart{word + "id", "tool", "{\"a\": \"" + word + "\"}", ToolState::Done,
                             word + "result", std::nullopt}};
    answer.written = {{{text, false}}};
    answer.state = i == 11 ? AnswerState::Done : AnswerState::Running;
    store->save(turn.id, answer);
  }
}

TEST(Deletion, LeavesNothingOfADeletedSessionInTheFolder) {
  TestStore store;
  std::vector<Turn> turns;
  turns.reserve(12);
  for (int i = 0; i < 12; ++i) {
    const std::string word = secret(i);
    Settings settings;
    settings.system = word + "system";
    turns.push_back(store->begin_session(
        {settings, kDate}, {word + "question", {{word + "name", word + "file", 1}}, true}));
    write_slowly(store, turns.back(), word);
    store->add_queued(turns.back().session, UserInput{word + "queued", {}, true});
    store->rename(turns.back().session, word + "title");
  }
  for (int i = 0; i < 12; i += 2) {
    store->erase_session(turns[static_cast<std::size_t>(i)].session);
  }
  store.now += kOver;
  EXPECT_TRUE(store->purge());
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(folder_holds(store.path(), secret(i)), i % 2 == 1) << i;
  }
  EXPECT_EQ(store->search(secret(1), 10).total, 3U);
  EXPECT_EQ(store->search(secret(2), 10).total, 0U);
}

std::string repeated(const std::string& word, std::size_t times) {
  std::string out;
  for (; times > 0; --times) {
    out += word;
  }
  return out;
}

// Begins a turn of random length in the session, or writes on at the one that runs.
void do_something(TestStore& store, Turn& turn, const std::string& word, std::mt19937& random) {
  const auto some = [&] { return repeated(word, random() % (random() % 3 == 0 ? 400 : 30)); };
  if (const auto begun = store->begin_turn(turn.session, says(some()))) {
    turn = *begun;
    return;
  }
  Answer answer;
  answer.state = random() % 3 == 0 ? AnswerState::Done : AnswerState::Running;
  answer.parts = {TextPart{some()}, TextPart{some()}};
  answer.written = {{{some(), false}}};
  store->save(turn.id, answer);
}

// SQLite copies rows when it balances pages, and leaves the old copies in the pages' gaps.
TEST(Deletion, LeavesNoCopyOfWhatMovedBetweenPages) {
  TestStore store;
  std::mt19937 random(8);
  std::vector<Turn> turns;
  turns.reserve(30);
  for (int i = 0; i < 30; ++i) {
    turns.push_back(store->begin_session({{}, kDate}, says(secret(i))));
  }
  for (int step = 0; step < 600; ++step) {
    const auto i = random() % turns.size();
    do_something(store, turns[i], secret(static_cast<int>(i)), random);
  }
  for (std::size_t i = 0; i < turns.size(); i += 2) {
    store->erase_session(turns[i].session);
  }
  store.now += kOver;
  store->purge();
  for (int i = 0; i < 30; i += 2) {
    EXPECT_FALSE(folder_holds(store.path(), secret(i))) << i;
  }
}

TEST(Deletion, LeavesNoTrigramOfADeletedMessageInTheIndex) {
  TestStore store;
  const Turn kept = store.talk("hello", "there");
  const Turn gone = store.talk(kept.session, "ΞΨΩξ", "fine");
  store->erase_message(*gone.question);
  store.now += kOver;
  store->purge();
  store.close();
  EXPECT_FALSE(folder_holds(store.path(), "ΞΨΩ"));
  EXPECT_FALSE(folder_holds(store.path(), "ξψω"));
  EXPECT_TRUE(folder_holds(store.path(), "hello"));
}

// Another program that reads the file keeps what was written before it began.
TEST(Deletion, IsPurgedAgainUntilNobodyReadsTheOldFile) {
  TestStore store;
  const Turn turn = store.talk("geheimnis", "1");
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open((store.path() / "sessions.db").c_str(), &reader), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM messages", nullptr, nullptr, nullptr),
            SQLITE_OK);
  store->erase_session(turn.session);
  store.now += kOver;
  EXPECT_TRUE(store->purge());
  ASSERT_EQ(sqlite3_close(reader), SQLITE_OK);
  EXPECT_TRUE(store->purge());
  EXPECT_FALSE(folder_holds(store.path(), "geheimnis"));
  EXPECT_FALSE(store->purge());
}

TEST(Deletion, IsPurgedAfterARestartToo) {
  TestStore store;
  const Turn turn = store.talk("geheimnis", "1");
  store->erase_session(turn.session);
  store.now += kOver;
  store.reopen();
  EXPECT_TRUE(store->purge());
  EXPECT_FALSE(folder_holds(store.path(), "geheimnis"));
}

}  // namespace
}  // namespace smol::store
