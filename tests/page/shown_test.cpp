// What the page shows of a session: its place, its figures, and what is left when it is deleted.
#include <chrono>
#include <cstddef>
#include <string>

#include "page/page_fixture.h"
#include "page/values.h"
#include "store/export.h"

namespace smol::page {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PageShown : public PageTest {
 protected:
  // Questions and answers in turn, as an import brings them: without figures.
  std::string imported_session(std::size_t n_messages) {
    store::Transcript transcript;
    transcript.session.title = "Imported";
    transcript.session.date = std::chrono::year(2026) / 1 / 2;
    for (std::size_t i = 0; i < n_messages; ++i) {
      store::Transcript::Entry entry;
      const std::string text = (i % 2 == 0 ? "Question " : "Answer ") + std::to_string(i) +
                               (i == 12 ? ". Walrus." : ".");
      entry.message.role = i % 2 == 0 ? store::Role::User : store::Role::Assistant;
      if (i % 2 == 0) {
        entry.message.text = text;
      } else {
        entry.message.answer.parts.emplace_back(store::TextPart{text});
      }
      entry.message.answer.state = store::AnswerState::Done;
      entry.parent = i == 0 ? std::nullopt : std::optional(i - 1);
      transcript.entries.push_back(entry);
    }
    transcript.leaf = n_messages - 1;
    return store->insert({transcript}).front();
  }

  // What the gauge of an answer says is used; "" where the answer has none.
  static std::string used(const std::string& body) {
    return between(body, "<span id=\"gauge-text\">", " / ");
  }

  Json price(const std::string& session, const std::string& action) {
    return json("/api/price?session_id=" + session + "&action=" + action);
  }
};

TEST_F(PageShown, DeletingTheSessionThatThePageShowsLeavesAnEmptyPage) {
  const std::string session = finished_session();
  const auto gone = post_from(session, "/api/delete", "session_id=" + session);
  EXPECT_EQ(gone.headers.find("HX-Replace-Url"), "/");
  EXPECT_THAT(gone.body, HasSubstr("<div id=\"messages\" hx-swap-oob=\"innerHTML\">"));
  EXPECT_THAT(gone.body, HasSubstr("data-do=\"starter\""));
  EXPECT_THAT(gone.body, HasSubstr("name=\"session_id\" value=\"\" hx-swap-oob=\"true\""));
  EXPECT_THAT(gone.body, HasSubstr("id=\"stream\""));
  EXPECT_THAT(gone.body, Not(HasSubstr("hx-sse:connect")));
  EXPECT_EQ(used(gone.body), "0");
  const std::string undo = between(gone.body, "undo_id\": \"", "\"");
  EXPECT_THAT(gone.body, HasSubstr("\"open\": \"on\""));
  const auto back = post("/api/undo", "open=on&undo_id=" + undo);
  EXPECT_EQ(back.headers.find("HX-Redirect"), "/chat/" + session);
}

TEST_F(PageShown, DeletingAnotherSessionLeavesThePageAsItIs) {
  const std::string session = finished_session();
  const std::string other = finished_session();
  const auto gone = post_from(session, "/api/delete", "session_id=" + other);
  EXPECT_EQ(gone.headers.find("HX-Replace-Url"), std::nullopt);
  EXPECT_THAT(gone.body, Not(HasSubstr("id=\"messages\"")));
  const std::string undo = between(gone.body, "undo_id\": \"", "\"");
  EXPECT_THAT(gone.body, HasSubstr("\"open\": \"off\""));
  const auto back = post_from(session, "/api/undo", "open=off&undo_id=" + undo);
  EXPECT_EQ(back.headers.find("HX-Redirect"), std::nullopt);
}

TEST_F(PageShown, ASearchLeadsToItsMessage) {
  const std::string session = imported_session(200);
  const std::string found = get("/api/search?q=walrus").body;
  const std::string link = between(found, "href=\"/chat/" + session + "?message=", "\"");
  const std::string id = link.substr(0, link.find('#'));
  EXPECT_EQ(link, id + "#m-" + id);
  const std::string page = get("/chat/" + session + "?message=" + id).body;
  EXPECT_THAT(page, HasSubstr("id=\"m-" + id + "\""));
  EXPECT_THAT(page, HasSubstr("Question 12."));
  EXPECT_THAT(page, HasSubstr("Question 2."));
  EXPECT_THAT(page, Not(HasSubstr("Question 0.")));
  EXPECT_THAT(page, HasSubstr("Answer 199."));
  EXPECT_THAT(page, HasSubstr("&amp;before="));
}

TEST_F(PageShown, ASearchLeadsToAnotherBranchUnlessAnAnswerIsBeingWritten) {
  const std::string session = finished_session("The first version.");
  const store::MessageId first = last(session).id;
  post("/api/regenerate", "message_id=" + id_text(first));
  const std::string place = "/chat/" + session + "?message=" + id_text(first);
  EXPECT_THAT(get(place).body, Not(HasSubstr("The first version.")));
  wait_for_turns(2);
  const auto tab = listen(session);
  turn()->say("The second version.");
  turn()->finish(assistant.finished);
  tab->next("done");
  EXPECT_THAT(get("/chat/" + session).body, Not(HasSubstr("The first version.")));
  EXPECT_THAT(get(place).body, HasSubstr("The first version."));
  EXPECT_EQ(last(session).id, first);
}

TEST_F(PageShown, AnAddressOfAMessageThatIsGoneShowsTheNewestOnes) {
  const std::string session = imported_session(60);
  const std::string other = finished_session();
  const std::string place = "/chat/" + session + "?message=";
  for (const std::string& id : {std::string("99999"), id_text(last(other).id), std::string("x")}) {
    const auto page = get(place + id);
    EXPECT_EQ(page.status, 200) << id;
    EXPECT_THAT(page.body, HasSubstr("Answer 59."));
    EXPECT_THAT(page.body, Not(HasSubstr("Question 18.")));
  }
}

TEST_F(PageShown, TheGaugeFollowsWhatTheModelForgets) {
  const std::string session = finished_session();
  EXPECT_EQ(used(get("/chat/" + session).body), "13");
  EXPECT_EQ(used(post("/api/reset-context", "session_id=" + session).body), "0");
  EXPECT_EQ(used(get("/chat/" + session).body), "0");
  store->add_note(session, {"What stands above was replaced by a summary.", "They met."});
  const std::string summed = used(get("/api/messages?session_id=" + session).body);
  EXPECT_GT(std::stoi(summed), 2);
  const std::string first = id_text(store->newest_messages(session, 9).messages.front().id);
  EXPECT_EQ(used(post("/api/delete", "message_id=" + first).body), "0");
}

TEST_F(PageShown, TheGaugeCountsWhereNoAnswerHasFigures) {
  const std::string session = imported_session(10);
  const int all = std::stoi(used(get("/chat/" + session).body));
  EXPECT_GT(all, 30);
  const std::string second = id_text(store->newest_messages(session, 8).messages.front().id);
  const std::string less = post("/api/delete", "message_id=" + second).body;
  EXPECT_GT(std::stoi(used(less)), 3);
  EXPECT_LT(std::stoi(used(less)), all);
  const std::string undo = between(less, "undo_id\": \"", "\"");
  EXPECT_EQ(used(post("/api/undo", "undo_id=" + undo).body), std::to_string(all));
}

TEST_F(PageShown, TheArchiveHasAHeadingAndAWayBack) {
  const std::string session = finished_session();
  EXPECT_THAT(get("/api/sessions").body, Not(HasSubstr("<span>Back</span>")));
  post("/api/archive", "archived=true&session_id=" + session);
  const std::string archive = get("/api/sessions?archived=true").body;
  EXPECT_THAT(archive, HasSubstr("Archive</h2>"));
  EXPECT_THAT(archive, HasSubstr("hx-get=\"/api/sessions\" hx-target=\"#session-list\""));
  post("/api/archive", "archived=false&session_id=" + session);
  EXPECT_THAT(get("/api/sessions?archived=true").body, HasSubstr("The archive is empty."));
}

TEST_F(PageShown, ARenameCanBeGivenUp) {
  const std::string session = finished_session();
  EXPECT_THAT(get("/api/rename?session_id=" + session).body, HasSubstr("data-cancel-edit"));
}

TEST_F(PageShown, APriceOfASwitchIsThatOfTheOtherThinkMode) {
  const std::string session = finished_session();
  const Json before = price(session, "switch");
  EXPECT_NE(before["total"], price(session, "edit")["total"]);
  post("/api/toggle-thinking", "session_id=" + session + "&think=on");
  EXPECT_EQ(before["total"], price(session, "")["total"]);
}

TEST_F(PageShown, APriceOfAnEditCountsTheMessageThatIsEdited) {
  const std::string session = finished_session();
  assistant.reusable_to_give = 1000;
  EXPECT_EQ(price(session, "regenerate")["tokens"], 0);
  const store::MessageId question = store->newest_messages(session, 2).messages.front().id;
  const Json edit = json("/api/price?action=edit&message_id=" + id_text(question));
  EXPECT_GT(edit["tokens"], 0);
  EXPECT_LT(edit["tokens"], edit["total"]);
  EXPECT_THAT(get("/api/edit?message_id=" + id_text(question)).body,
              HasSubstr("recomputes " + edit["tokens"].dump() + " of "));
}

TEST_F(PageShown, AnAnswerTellsItsTokensItsTimeAndItsSpeed) {
  assistant.finished.usage.decode_time = std::chrono::milliseconds(2000);
  const std::string session = finished_session();
  EXPECT_THAT(get("/chat/" + session).body, HasSubstr("3 tokens · 2 s · 1.5 tok/s"));
}

TEST_F(PageShown, WhatTurnsThinkingOnAndOffInATextIsACommand) {
  EXPECT_THAT(get("/").body,
              HasSubstr("data-command=\"/no_think\"\n data-do=\"think\" data-value=\"off\""));
}

}  // namespace
}  // namespace smol::page
