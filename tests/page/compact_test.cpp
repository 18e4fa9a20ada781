#include <string>

#include "page/page_fixture.h"

namespace smol::page {
namespace {

using store::AnswerState;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class PageCompact : public PageTest {
 protected:
  // Appends a turn whose message and answer are about that many tokens each.
  void talk(const std::string& session, const std::string& word, int count) {
    assistant.hold = true;
    const auto tab = listen(session);
    ASSERT_EQ(
        post("/api/chat", "session_id=" + session + "&think=off&message=" + words(count, word))
            .status,
        200);
    turn()->say(words(count, word, " "));
    turn()->finish(assistant.finished);
    tab->next("done");
  }

  server::HttpResponse compact(const std::string& session) {
    assistant.hold = true;
    return post("/api/compact", "session_id=" + session);
  }

  std::string prompt() const { return assistant.requests().back().prompt.text.bytes(); }

  store::Message note_of(Tab& tab) {
    Heard heard = tab.next("snapshot");
    return store->message(std::stoll(heard.data["last"].get<std::string>()));
  }
};

TEST_F(PageCompact, PutsASummaryInThePlaceOfWhatWasSaid) {
  const std::string session = finished_session("A long story.");
  const auto response = compact(session);
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr("data-state=\"running\""));
  EXPECT_THAT(prompt(), HasSubstr("A long story."));
  const auto tab = listen(session);
  tab->next("snapshot");
  turn()->say("They spoke of a story.");
  turn()->finish(assistant.finished);
  tab->next("done");
  const store::Message note = note_of(*tab);
  EXPECT_EQ(note.text, "What stands above was replaced by a summary.");
  EXPECT_EQ(note.summary, "They spoke of a story.");
  EXPECT_EQ(last(session).id, note.id);
  EXPECT_THAT(get("/api/messages?session_id=" + session).body, HasSubstr(note.text));
  post("/api/chat", "session_id=" + session + "&message=More&think=off");
  EXPECT_THAT(prompt(), HasSubstr("They spoke of a story."));
  EXPECT_THAT(prompt(), Not(HasSubstr("A long story.")));
}

TEST_F(PageCompact, IsRefusedWhileAnAnswerIsWritten) {
  const std::string session = begin();
  const auto response = compact(session);
  EXPECT_EQ(response.status, 409);
  EXPECT_THAT(response.body, HasSubstr("An answer is still being written."));
  EXPECT_EQ(assistant.requests().size(), 1U);
}

TEST_F(PageCompact, IsRefusedWhereNothingWasSaidSinceTheLastTime) {
  const std::string session = finished_session();
  post("/api/reset-context", "session_id=" + session);
  EXPECT_EQ(compact(session).status, 400);
  EXPECT_EQ(post("/api/compact", "session_id=").status, 400);
}

TEST_F(PageCompact, KeepsAMessageThatWasSentMeanwhileBehindTheSummary) {
  const std::string session = finished_session("A long story.");
  compact(session);
  EXPECT_EQ(post("/api/chat", "session_id=" + session + "&message=Early").status, 409);
  post("/api/queue", "session_id=" + session + "&message=And+then%3F&think=off");
  turn()->say("They spoke.");
  turn()->finish(assistant.finished);
  wait_for_turns(3);
  EXPECT_THAT(prompt(), HasSubstr("They spoke."));
  EXPECT_THAT(prompt(), HasSubstr("And then?"));
  EXPECT_THAT(prompt(), Not(HasSubstr("A long story.")));
}

TEST_F(PageCompact, RefusesASummaryThatWasCut) {
  const std::string session = finished_session("A long story.");
  compact(session);
  const auto tab = listen(session);
  turn()->say("They spoke of");
  chat::TurnFinished cut = assistant.finished;
  cut.end = chat::TurnEnd::MaxTokens;
  turn()->finish(cut);
  EXPECT_THAT(tab->next("error").data["text"].get<std::string>(), HasSubstr("was not replaced"));
  EXPECT_EQ(last(session).answer.state, AnswerState::Error);
  post("/api/chat", "session_id=" + session + "&message=More&think=off");
  EXPECT_THAT(prompt(), HasSubstr("A long story."));
}

TEST_F(PageCompact, RefusesASummaryWithoutWordsAndOneThatCallsATool) {
  const std::string session = finished_session("A long story.");
  const auto tab = listen(session);
  compact(session);
  turn()->finish(assistant.finished);
  tab->next("error");
  compact(session);
  turn()->say("Let me see.");
  turn()->tell(chat::ToolCall{"call_0001", "calculator", R"({"expression": "6 * 7"})"});
  turn()->finish(assistant.finished);
  tab->next("error");
  EXPECT_EQ(last(session).role, store::Role::Assistant);
}

TEST_F(PageCompact, CanBeStoppedAndThenReplacesNothing) {
  const std::string session = finished_session("A long story.");
  compact(session);
  const auto tab = listen(session);
  turn()->say("They spoke of");
  tab->next("delta");
  post("/api/stop", "session_id=" + session);
  EXPECT_EQ(tab->next("done").data["reason"], "stopped");
  EXPECT_EQ(last(session).answer.state, AnswerState::Stopped);
}

TEST_F(PageCompact, GoesOnFromWhatTheSessionsTurnsHaveRead) {
  const std::string session = begin("message=Hello&think=on");
  const auto tab = listen(session);
  turn()->say("Hi.");
  turn()->finish(assistant.finished);
  tab->next("done");
  post("/api/settings", "session_id=" + session + "&tools=on&system=Be+brief.&temperature=0");
  post("/api/chat", "session_id=" + session + "&message=More&think=on");
  turn()->say("So.");
  turn()->finish(assistant.finished);
  tab->next("done");
  const std::string before = prompt();
  compact(session);
  EXPECT_THAT(prompt(), StartsWith(before));
  EXPECT_EQ(assistant.requests().back().client, assistant.requests().front().client);
  EXPECT_EQ(assistant.requests().back().answer.sampling.temperature, 0);
  EXPECT_EQ(assistant.requests().back().answer.thinking_budget, 0U);
}

TEST_F(PageCompact, LeavesOutTheOldestTurnsOfAFullContext) {
  const std::string session = finished_session("The beginning.");
  for (const char* word : {"red", "green", "blue"}) {
    talk(session, word, 50);
  }
  EXPECT_EQ(compact(session).status, 200);
  const chat::TurnRequest request = assistant.requests().back();
  EXPECT_LE(request.prompt.ids.size() + request.answer.max_tokens, assistant.model().context);
  EXPECT_EQ(request.answer.overflow, chat::ContextOverflow::Refuse);
  EXPECT_THAT(prompt(), Not(HasSubstr("The beginning.")));
  EXPECT_THAT(prompt(), Not(HasSubstr("red red")));
  EXPECT_THAT(prompt(), HasSubstr("green green"));
  EXPECT_THAT(prompt(), HasSubstr("blue blue"));
  const auto tab = listen(session);
  tab->next("snapshot");
  turn()->say("They counted.");
  turn()->finish(assistant.finished);
  tab->next("done");
  EXPECT_THAT(note_of(*tab).text, HasSubstr(" The oldest 4 messages did not fit into it."));
}

TEST_F(PageCompact, ReadsTheEndsOfASingleTurnThatFillsTheContext) {
  const std::string session = finished_session("The beginning.");
  talk(session, "word", 215);
  EXPECT_EQ(compact(session).status, 200);
  const chat::TurnRequest request = assistant.requests().back();
  EXPECT_EQ(request.answer.overflow, chat::ContextOverflow::Roll);
  EXPECT_THAT(prompt(), Not(HasSubstr("The beginning.")));
  turn()->say("A word.");
  const auto tab = listen(session);
  turn()->finish(assistant.finished);
  tab->next("done");
  EXPECT_THAT(last(session).text, HasSubstr("Not all of it fitted"));
}

}  // namespace
}  // namespace smol::page
