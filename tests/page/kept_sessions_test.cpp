#include "page/kept_sessions.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "page/page_fixture.h"

namespace smol::page {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Kept : public PageTest {
 protected:
  // The names of the owners whose prompts the file holds.
  std::string file() const {
    std::ifstream in(kept.path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  KeptSessions sessions() {
    return {assistant, *store, kept, [](const store::Settings& /*settings*/, bool think) {
              return TurnWish{{}, {}, think};
            }};
  }

  static bool always() { return true; }
};

TEST_F(Kept, TheServersEndWritesWhatIsNotDeleted) {
  const std::string first = finished_session();
  const std::string second = finished_session();
  post("/api/delete", "session_id=" + first);
  site->end();
  EXPECT_EQ(file(), owner_of(second) + "\n");
}

TEST_F(Kept, AServerThatAnsweredNothingWritesNothing) {
  site->end();
  EXPECT_FALSE(std::filesystem::exists(kept.path));
}

TEST_F(Kept, NothingIsWrittenWhereNothingMayBeKept) {
  kept.max_bytes = 0;
  restart();
  finished_session();
  site->end();
  EXPECT_FALSE(std::filesystem::exists(kept.path));
}

TEST_F(Kept, TheNextStartAsksForWhatTheNextMessageBeginsWith) {
  const std::string session = finished_session("An answer that is remembered.");
  restart();
  ASSERT_EQ(assistant.restored.size(), 1U);
  EXPECT_EQ(assistant.restored[0].owner, owner_of(session));
  post("/api/chat", "session_id=" + session + "&message=More&think=off");
  const std::vector<TokenId> next = assistant.requests().back().prompt.ids;
  const std::vector<TokenId>& restored = assistant.restored[0].ids;
  const auto common = std::ranges::mismatch(restored, next).in1 - restored.begin();
  const std::string known = chat::demo_chat().tokenizer.decode(
      std::span(next).first(static_cast<std::size_t>(common)), true);
  EXPECT_THAT(known, HasSubstr("An answer that is remembered."));
  EXPECT_EQ(assistant.requests().back().owner, owner_of(session));
}

TEST_F(Kept, WhatWasDeletedLeavesMemoryAndFile) {
  const std::string session = finished_session();
  const std::string other = finished_session();
  const KeptSessions kept_sessions = sessions();
  kept_sessions.save(always);
  EXPECT_THAT(file(), HasSubstr(session));
  store->erase_session(session);
  EXPECT_TRUE(kept_sessions.forget(store->deletions(), always));
  EXPECT_THAT(assistant.forgotten, ElementsAre(owner_of(session)));
  EXPECT_EQ(file(), owner_of(other) + "\n");
}

TEST_F(Kept, WhatCouldNotBeWrittenAnewIsNotOverYet) {
  const std::string session = finished_session();
  const KeptSessions kept_sessions = sessions();
  store->erase_session(session);
  EXPECT_FALSE(kept_sessions.forget(store->deletions(), [] { return false; }));
}

TEST_F(Kept, ADeletedMessageIsLeftToTheNextPromptsOfItsSession) {
  const std::string session = finished_session();
  const KeptSessions kept_sessions = sessions();
  store->erase_message(last(session).id);
  EXPECT_TRUE(kept_sessions.forget(store->deletions(), always));
  EXPECT_THAT(assistant.forgotten, IsEmpty());
  EXPECT_THAT(file(), HasSubstr(session));
}

TEST_F(Kept, AFileThatCannotBeRemovedIsSaid) {
  std::string told;
  kept.path = folder.path() / "a folder";
  std::filesystem::create_directories(kept.path / "full");
  kept.max_bytes = 0;
  kept.tell = [&](const std::string& error) { told = error; };
  sessions().restore();
  EXPECT_THAT(told, HasSubstr("a folder"));
}

}  // namespace
}  // namespace smol::page
