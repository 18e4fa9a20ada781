#include "store/session_store.h"

#include <set>
#include <sqlite3.h>
#include <sys/stat.h>
#include <thread>

#include "store/test_store.h"

namespace smol::store {
namespace {

unsigned mode_of(const std::filesystem::path& path) {
  struct stat status {};

  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777U;
}

// Runs SQL on the file as another program would.
void run_sql(const std::filesystem::path& file, const char* sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
}

TEST(SessionStore, MakesItsFolderAndFilesForTheOwnerOnly) {
  const test::TempFolder folder;
  const auto path = folder.path() / "deep" / "data";
  const ::mode_t before = ::umask(0);
  {
    SessionStore store(path);
    store.begin_session({{}, kDate}, says("Hello"));
    EXPECT_EQ(mode_of(path), 0700U);
    EXPECT_EQ(mode_of(path.parent_path()), 0700U);
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      EXPECT_EQ(mode_of(entry.path()), 0600U) << entry.path();
    }
  }
  ::umask(before);
}

TEST(SessionStore, RefusesAFolderThatAnotherOneUses) {
  TestStore store;
  std::string message;
  EXPECT_EQ(error_of([&] { const SessionStore second(store.path()); }, &message), ErrorCode::Io);
  EXPECT_EQ(message, store.path().string() +
                         ": expected a data folder of our own, found one that another smolbot is "
                         "using");
  store.close();
  EXPECT_EQ(error_of([&] { const SessionStore second(store.path()); }), std::nullopt);
}

TEST(SessionStore, RefusesAFileOfANewerVersion) {
  TestStore store;
  store.close();
  run_sql(store.path() / "sessions.db", "PRAGMA user_version = 99");
  std::string message;
  EXPECT_EQ(error_of([&] { store.reopen(); }, &message), ErrorCode::Unsupported);
  EXPECT_NE(message.find("sessions.db: expected sessions of version 4 or older, found version 99"),
            std::string::npos)
      << message;
}

TEST(SessionStore, RefusesAnotherProgramsDatabase) {
  const test::TempFolder folder;
  run_sql(folder.path() / "sessions.db", "CREATE TABLE bookmarks (url TEXT)");
  EXPECT_EQ(error_of([&] { const SessionStore store(folder.path()); }), ErrorCode::BadInput);
}

TEST(SessionStore, RefusesAFileThatIsNoDatabase) {
  const test::TempFolder folder;
  std::ofstream(folder.path() / "sessions.db") << std::string(5000, 'x');
  std::string message;
  EXPECT_EQ(error_of([&] { const SessionStore store(folder.path()); }, &message), ErrorCode::Io);
  EXPECT_NE(message.find("not a database"), std::string::npos) << message;
}

TEST(SessionStore, SaysWhichFolderCannotBeMade) {
  const test::TempFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  std::string message;
  EXPECT_EQ(error_of([&] { const SessionStore store(folder.path() / "file" / "data"); }, &message),
            ErrorCode::Io);
  EXPECT_NE(message.find((folder.path() / "file" / "data").string()), std::string::npos) << message;
}

TEST(SessionStore, GivesEverySessionAnIdOf128Bits) {
  TestStore store;
  std::set<SessionId> ids;
  for (int i = 0; i < 20; ++i) {
    ids.insert(store.talk("Hello", "Hi").session);
  }
  EXPECT_EQ(ids.size(), 20U);
  for (const SessionId& id : ids) {
    EXPECT_EQ(id.size(), 32U);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), SessionId::npos);
  }
}

TEST(SessionStore, KeepsSettingsAndDateThroughARestart) {
  TestStore store;
  Settings settings;
  settings.think = false;
  settings.system = "Be brief. 簡潔に。";
  settings.temperature = 0.1;
  settings.top_k = 40;
  settings.seed = 4294967295;
  settings.thinking_budget = 0;
  settings.tools = true;
  const Turn turn = store->begin_session({settings, kDate}, {"Hello", {}, false});
  store.finish(turn, "Hi");
  store.reopen();
  EXPECT_EQ(store->session(turn.session).settings, settings);
  EXPECT_EQ(store->session(turn.session).date, kDate);
  const auto changed = store->change_settings(turn.session, [](Settings& now) {
    now.think = true;
    now.temperature.reset();
  });
  store.reopen();
  EXPECT_EQ(store->session(turn.session).settings, changed);
  EXPECT_EQ(changed.system, settings.system);
}

TEST(SessionStore, KeepsTheSettingsOfTheNextSession) {
  TestStore store;
  EXPECT_EQ(store->next_settings(), Settings{});
  const Settings first = store->change_next_settings([](Settings& now) {
    now.think = false;
    now.system = "Be brief.";
    now.top_p = 0.5;
  });
  const Settings changed = store->change_next_settings([](Settings& now) { now.max_tokens = 100; });
  store.reopen();
  EXPECT_EQ(store->next_settings(), changed);
  EXPECT_EQ(changed.system, first.system);
  EXPECT_FALSE(changed.think);
  EXPECT_EQ(changed.max_tokens, 100);
  EXPECT_EQ(
      error_of([&] { store->change_next_settings([](Settings& now) { now.system = "\xFF"; }); }),
      ErrorCode::BadInput);
  EXPECT_EQ(store->next_settings(), changed);
}

TEST(SessionStore, TakesTheFirstLineAsTitleUntilThereIsABetterOne) {
  TestStore store;
  const SessionId id = store.talk("\n  Plan a trip\nto Lisbon", "Gladly").session;
  EXPECT_EQ(store->session(id).title, "Plan a trip");
  EXPECT_EQ(store->session(id).title_origin, TitleOrigin::FirstLine);
  EXPECT_TRUE(store->set_automatic_title(id, "Lisbon"));
  EXPECT_EQ(store->session(id).title, "Lisbon");
  store->rename(id, "My trip");
  EXPECT_FALSE(store->set_automatic_title(id, "Portugal"));
  EXPECT_EQ(store->session(id).title, "My trip");
  EXPECT_EQ(error_of([&] { store->rename(id, ""); }), ErrorCode::BadInput);
}

TEST(SessionStore, GivesATitleOneLineOfBoundedLength) {
  TestStore store;
  const SessionId id = store.talk("Hello", "Hi").session;
  store->rename(id, "\n two\nlines");
  EXPECT_EQ(store->session(id).title, "two");
  store->rename(id, std::string(5000, 'x'));
  EXPECT_EQ(store->session(id).title, std::string(200, 'x') + "…");
  EXPECT_EQ(error_of([&] { store->rename(id, " \n "); }), ErrorCode::BadInput);
}

TEST(SessionStore, CutsALongTitleBetweenCharacters) {
  TestStore store;
  std::string line;
  for (int i = 0; i < 100; ++i) {
    line += "語";
  }
  const std::string title = store->session(store.talk(line, "Hi").session).title;
  EXPECT_EQ(title, line.substr(0, 180) + "…");
}

TEST(SessionStore, ListsPinnedSessionsFirstThenTheNewestAndArchivedOnesApart) {
  TestStore store;
  const SessionId first = store.talk("first", "1").session;
  store.now += Milliseconds(1);
  const SessionId second = store.talk("second", "2").session;
  store.now += Milliseconds(1);
  const SessionId third = store.talk("third", "3").session;
  store->pin(first, true);
  store->archive(second, true);
  const auto listed = store->sessions(false);
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].id, first);
  EXPECT_TRUE(listed[0].pinned);
  EXPECT_EQ(listed[1].id, third);
  ASSERT_EQ(store->sessions(true).size(), 1U);
  EXPECT_EQ(store->counts().sessions, 3U);
  EXPECT_EQ(store->counts().archived, 1U);
  EXPECT_EQ(store->newest_session().value().id, third);
  store->begin_turn(third, says("more"));
  EXPECT_TRUE(store->sessions(false)[1].is_running);
  EXPECT_EQ(store->session_ids(), (std::vector<SessionId>{third, second, first}));
}

TEST(SessionStore, NamesAnUnknownSession) {
  TestStore store;
  std::string message;
  EXPECT_EQ(error_of([&] { store->session("no-such-id"); }, &message), ErrorCode::NotFound);
  EXPECT_EQ(message, "session: expected the id of a session, found \"no-such-id\"");
  EXPECT_EQ(error_of([&] { store->newest_messages("no-such-id", 10); }), ErrorCode::NotFound);
  EXPECT_EQ(error_of([&] { store->message(17); }), ErrorCode::NotFound);
}

TEST(SessionStore, KeepsAQueuedMessage) {
  TestStore store;
  const SessionId id = store.talk("Hello", "Hi").session;
  EXPECT_EQ(store->queued(id), std::nullopt);
  const UserInput input{"next \"one\"", {{"notes.txt", "a\nb", 3}}, false};
  store->add_queued(id, input);
  store.reopen();
  EXPECT_EQ(store->queued(id), input);
  EXPECT_EQ(store->take_queued(id), input);
  EXPECT_EQ(store->queued(id), std::nullopt);
  EXPECT_EQ(store->take_queued(id), std::nullopt);
}

TEST(SessionStore, JoinsWhatIsQueuedToOneMessage) {
  TestStore store;
  const SessionId id = store.talk("Hello", "Hi").session;
  store->add_queued(id, {"", {{"a.txt", "a", 1}}, true});
  store->add_queued(id, {"one", {{"b.txt", "b", 1}}, true});
  store->add_queued(id, {"two", {}, false});
  const UserInput joined{"one\n\ntwo", {{"a.txt", "a", 1}, {"b.txt", "b", 1}}, false};
  EXPECT_EQ(store->queued(id), joined);
}

TEST(SessionStore, RefusesTextThatIsNoUtf8) {
  TestStore store;
  std::string message;
  EXPECT_EQ(error_of(
                [&] {
                  store->begin_session({{}, kDate}, says("\xC3"));
                },
                &message),
            ErrorCode::BadInput);
  EXPECT_EQ(message, "message: expected UTF-8, found bytes that are none");
  EXPECT_EQ(store->counts().sessions, 0U);
}

TEST(SessionStore, KeepsEveryByteOfAText) {
  TestStore store;
  const std::string text = std::string("nul \0 tab\t", 10) + "  indented\r\n😀 e\u0301 ";
  const Turn turn = store.talk(text, text);
  store.reopen();
  EXPECT_EQ(store->message(*turn.question).text, text);
  EXPECT_EQ(TestStore::text_of(store->message(turn.answer)), text);
}

TEST(SessionStore, MayBeUsedByManyThreads) {
  TestStore store;
  const SessionId id = store.talk("Hello", "Hi").session;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        store->rename(id, "title " + std::to_string(t));
        store->newest_messages(id, 10);
        store->search("Hello", 5);
        const Turn turn = store->begin_session({{}, kDate}, says("mine"));
        Answer answer;
        answer.state = AnswerState::Done;
        store->save(turn.id, answer);
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(store->counts().sessions, 41U);
}

}  // namespace
}  // namespace smol::store
