#include <chrono>
#include <string>
#include <variant>

#include "page/page_fixture.h"

namespace smol::page {
namespace {

using store::AnswerState;
using ::testing::HasSubstr;
using ::testing::Not;

class PageTurns : public PageTest {};

std::string text_of_answer(const store::Message& message) {
  std::string out;
  for (const store::Part& part : message.answer.parts) {
    const auto* text = std::get_if<store::TextPart>(&part);
    out += text == nullptr ? "" : text->text;
  }
  return out;
}

TEST_F(PageTurns, AFirstMessageMakesASessionAndItsAnswerStreams) {
  const std::string session = begin("message=What+is+%3C2%3E%3F&think=off");
  const auto tab = listen(session);
  EXPECT_EQ(tab->next("snapshot").data["parts"], Json::array());
  turn()->say("It is ");
  turn()->say("two: 二.");
  turn()->finish(assistant.finished);
  EXPECT_EQ(tab->text_until_done(), "It is two: 二.");
  EXPECT_EQ(store->session(session).title, "What is <2>?");
  EXPECT_EQ(last(session).answer.state, AnswerState::Done);
  EXPECT_EQ(text_of_answer(last(session)), "It is two: 二.");
  EXPECT_EQ(last(session).answer.figures.tokens, 3);
}

TEST_F(PageTurns, TheFragmentHoldsTheMessageEscapedAndAnEmptyAnswer) {
  assistant.hold = true;
  const auto response = post("/api/chat", "session_id=&message=%3Cb%3E&think=off");
  EXPECT_THAT(response.body, HasSubstr("&lt;b&gt;"));
  EXPECT_THAT(response.body, Not(HasSubstr("<b>")));
  EXPECT_THAT(response.body, HasSubstr("data-state=\"running\""));
  EXPECT_THAT(response.body, HasSubstr("hx-sse:connect=\"/api/stream/"));
}

TEST_F(PageTurns, ASummaryWithoutASessionIsOfTheNewest) {
  EXPECT_EQ(post("/api/summarize", "").status, 400);
  const std::string session = finished_session("Kept.");
  EXPECT_EQ(post("/api/summarize", "think=off").status, 200);
  EXPECT_EQ(json("/api/session-ids"), Json::array({session}));
}

TEST_F(PageTurns, ASecondMessageWaitsForTheEndOfTheAnswer) {
  const std::string session = begin();
  const auto response = post("/api/chat", "session_id=" + session + "&message=More");
  EXPECT_EQ(response.status, 409);
  EXPECT_THAT(response.body, HasSubstr("An answer is still being written."));
  EXPECT_EQ(assistant.requests().size(), 1U);
}

TEST_F(PageTurns, WhatIsQueuedIsSentAsOneMessageWhenTheAnswerHasEnded) {
  const std::string session = begin();
  const std::string id = "session_id=" + session;
  const auto tab = listen(session);
  EXPECT_THAT(post("/api/queue", id + "&message=And+then%3F&think=off").body,
              HasSubstr(">And then?</span>"));
  post("/api/queue", id + "&message=And+now%3F&think=off");
  EXPECT_THAT(get("/chat/" + session).body, HasSubstr(">And then?\n\nAnd now?</span>"));
  const std::string answer = std::to_string(last(session).id);
  turn()->finish(assistant.finished);
  tab->next("done");
  EXPECT_EQ(tab->next("turn").data["parent"], answer);
  wait_for_turns(2);
  EXPECT_THAT(assistant.requests()[1].prompt.text.bytes(), HasSubstr("And then?\n\nAnd now?"));
  EXPECT_THAT(get("/api/messages?" + id).body, HasSubstr("id=\"queued\" class=\"row\" hidden"));
  turn()->say("So.");
  turn()->finish(assistant.finished);
  EXPECT_EQ(tab->text_until_done(), "So.");
}

TEST_F(PageTurns, WhatIsQueuedTooLateIsSentAtOnce) {
  const std::string session = finished_session();
  post("/api/queue", "session_id=" + session + "&message=More&think=off");
  wait_for_turns(2);
  EXPECT_EQ(store->queued(session), std::nullopt);
}

TEST_F(PageTurns, WhatIsQueuedCanBeTakenBackWithItsFiles) {
  const std::string session = begin();
  const std::string id = "session_id=" + session;
  const auto tab = listen(session);
  post("/api/queue", id + "&message=%3Ci%3E&attachment_name=a.txt&attachment_text=words");
  const std::string back = post("/api/unqueue", id + "&edit=on").body;
  EXPECT_THAT(back, HasSubstr("data-back=\"&lt;i&gt;\""));
  EXPECT_THAT(back, HasSubstr("name=\"attachment_name\" value=\"a.txt\""));
  EXPECT_THAT(post("/api/unqueue", id + "&edit=on").body, Not(HasSubstr("data-back")));
  turn()->finish(assistant.finished);
  tab->next("done");
  EXPECT_EQ(store->queued(session), std::nullopt);
  EXPECT_EQ(post("/api/queue", id + "&message=+").status, 400);
}

TEST_F(PageTurns, WhatIsQueuedOutlivesTheServerUntilTheNextEnd) {
  const std::string session = begin();
  post("/api/queue", "session_id=" + session + "&message=And+then%3F&think=off");
  restart();
  EXPECT_THAT(get("/chat/" + session).body, HasSubstr(">And then?</span>"));
  EXPECT_EQ(assistant.requests().size(), 1U);
  post("/api/continue", "message_id=" + std::to_string(last(session).id));
  turn()->finish(assistant.finished);
  wait_for_turns(3);
  EXPECT_THAT(assistant.requests()[2].prompt.text.bytes(), HasSubstr("And then?"));
}

TEST_F(PageTurns, AReloadGetsAllOfItAndAReconnectWhatItMissed) {
  const std::string session = begin();
  const auto tab = listen(session);
  tab->next("snapshot");
  turn()->say("one ");
  const Heard heard = tab->next("delta");
  EXPECT_EQ(heard.data["text"], "one ");
  turn()->say("two");
  tab->next("delta");
  EXPECT_EQ(listen(session)->next("snapshot").data["parts"][0]["text"], "one two");
  EXPECT_EQ(listen(session, heard.id)->next("delta").data["text"], "two");
  EXPECT_EQ(listen(session, heard.id + "000")->next_event().name, "snapshot");
  EXPECT_EQ(listen(session, "999.0")->next_event().name, "snapshot");
}

TEST_F(PageTurns, AllTabsHearATurnThatOneOfThemBegan) {
  const std::string session = finished_session();
  const auto tab = listen(session);
  EXPECT_EQ(tab->next("snapshot").data["turn"], nullptr);
  post("/api/chat", "session_id=" + session + "&message=More&think=off");
  const Heard began = tab->next("turn");
  EXPECT_NE(began.data["parent"], nullptr);
  turn()->say("Again.");
  turn()->finish(assistant.finished);
  EXPECT_EQ(tab->text_until_done(), "Again.");
}

TEST_F(PageTurns, StopEndsTheAnswerAndKeepsWhatThereIs) {
  const std::string session = begin();
  const auto tab = listen(session);
  turn()->say("Half");
  tab->next("delta");
  EXPECT_EQ(post("/api/stop", "session_id=" + session).status, 200);
  EXPECT_EQ(tab->next("done").data["reason"], "stopped");
  EXPECT_EQ(text_of_answer(last(session)), "Half");
  EXPECT_THAT(get("/api/message-footer?message_id=" + std::to_string(last(session).id)).body,
              HasSubstr("Stopped by you"));
  EXPECT_THAT(post("/api/stop", "session_id=" + session).body,
              HasSubstr("No answer is being written."));
}

TEST_F(PageTurns, ThoughtsAreApartFromTheAnswer) {
  const std::string session = begin("message=Hello&think=off&think=on");
  const auto tab = listen(session);
  turn()->tell(chat::ThinkingDelta{"Let me see."});
  EXPECT_EQ(tab->next("thinking").data["text"], "Let me see.");
  turn()->say("Yes.");
  turn()->finish(assistant.finished);
  EXPECT_EQ(tab->next("delta").data["part"], 1);
  tab->next("done");
  EXPECT_TRUE(std::holds_alternative<store::ThinkingPart>(last(session).answer.parts[0]));
  EXPECT_TRUE(store->session(session).settings.think);
  EXPECT_EQ(assistant.requests()[0].options.think, chat::ThinkMode::On);
}

TEST_F(PageTurns, AToolIsRunOnceAPersonAllowsItAndTheModelGoesOn) {
  const std::string session = begin("message=6*7&think=off&tools=on");
  const auto tab = listen(session);
  turn()->tell(chat::ToolCall{"call_0001", "calculator", R"({"expression": "6 * 7"})"});
  turn()->finish(assistant.finished);
  const Heard asked = tab->next("tool");
  const std::string id = asked.data["call"];
  while (tab->next("progress").data["phase"] != "asking") {
  }
  EXPECT_THAT(get("/api/tool?call_id=" + id).body, HasSubstr("Allow"));
  EXPECT_THAT(post("/api/tool", "call_id=" + id + "&decision=allow").body, HasSubstr("calculator"));
  while (tab->next("tool").data["state"] != "done") {
  }
  while (assistant.turns().size() < 2) {
    tab->next("progress");
  }
  EXPECT_THAT(assistant.requests()[1].prompt.text.bytes(), HasSubstr("42"));
  turn()->say("It is 42.");
  turn()->finish(assistant.finished);
  EXPECT_EQ(tab->text_until_done(), "It is 42.");
  EXPECT_EQ(post("/api/tool", "call_id=" + id + "&decision=allow").status, 409);
}

TEST_F(PageTurns, AStopWhileAToolAsksEndsTheTurn) {
  const std::string session = begin("message=6*7&think=off&tools=on");
  const auto tab = listen(session);
  turn()->tell(chat::ToolCall{"call_0001", "calculator", R"({"expression": "6 * 7"})"});
  turn()->finish(assistant.finished);
  while (tab->next("progress").data["phase"] != "asking") {
  }
  post("/api/stop", "session_id=" + session);
  EXPECT_EQ(tab->next("done").data["reason"], "stopped");
  EXPECT_EQ(std::get<store::ToolPart>(last(session).answer.parts[0]).state,
            store::ToolState::Failed);
}

TEST_F(PageTurns, AStopEndsATurnFromTheMomentItsToolAsks) {
  const std::string session = begin("message=6*7&think=off&tools=on");
  const auto tab = listen(session);
  turn()->tell(chat::ToolCall{"call_0001", "calculator", R"({"expression": "6 * 7"})"});
  turn()->finish(assistant.finished);
  while (json("/api/status?session_id=" + session)["turn"]["phase"] != "asking") {
  }
  post("/api/stop", "session_id=" + session);
  EXPECT_EQ(tab->next("done").data["reason"], "stopped");
}

TEST_F(PageTurns, APermissionCountsFromTheMomentItIsAskedFor) {
  const std::string session = begin("message=6*7&think=off&tools=on");
  const auto tab = listen(session);
  turn()->tell(chat::ToolCall{"call_0001", "calculator", R"({"expression": "6 * 7"})"});
  turn()->finish(assistant.finished);
  const std::string id = tab->next("tool").data["call"];
  std::string card;
  while (card.find("Allow") == std::string::npos) {
    card = get("/api/tool?call_id=" + id).body;
  }
  EXPECT_EQ(post("/api/tool", "call_id=" + id + "&decision=allow").status, 200);
  wait_for_turns(2);
}

TEST_F(PageTurns, AnAnswerThatIsContinuedGoesOnInItsLastPart) {
  const std::string session = begin();
  const auto tab = listen(session);
  turn()->say("Half ");
  tab->next("delta");
  post("/api/stop", "session_id=" + session);
  const std::string id = std::to_string(last(session).id);
  tab->next("done");
  EXPECT_THAT(post("/api/continue", "message_id=" + id).body, HasSubstr("Half "));
  EXPECT_TRUE(assistant.requests().back().options.continue_final_message);
  turn()->say("and half.");
  turn()->finish(assistant.finished);
  const Heard delta = tab->next("delta");
  EXPECT_EQ(delta.data["part"], 0);
  EXPECT_EQ(delta.id.substr(delta.id.find('.')), ".14");
  tab->next("done");
  EXPECT_EQ(text_of_answer(last(session)), "Half and half.");
}

TEST_F(PageTurns, RegenerateAndEditMakeBranches) {
  const std::string session = finished_session("First.");
  const store::Message first = last(session);
  const auto tab = listen(session);
  post("/api/regenerate", "message_id=" + std::to_string(first.id));
  turn()->say("Second.");
  turn()->finish(assistant.finished);
  tab->next("done");
  EXPECT_EQ(last(session).branch.count, 2U);
  EXPECT_THAT(post("/api/branch", "message_id=" + std::to_string(first.id)).body,
              HasSubstr("First."));
  const std::string question = std::to_string(*first.parent);
  EXPECT_THAT(get("/api/edit?message_id=" + question).body, HasSubstr("recomputes "));
  post("/api/edit", "message_id=" + question + "&message=Else");
  turn()->finish(assistant.finished);
  tab->next("done");
  EXPECT_EQ(store->message(*last(session).parent).branch.count, 2U);
}

TEST_F(PageTurns, WhatTheAssistantRefusesIsTheAnswersError) {
  assistant.refusal = Error(ErrorCode::Exhausted, "queue full");
  const std::string session = begin();
  const store::Message answer = last(session);
  EXPECT_EQ(answer.answer.state, AnswerState::Error);
  EXPECT_THAT(get("/api/message?message_id=" + std::to_string(answer.id)).body,
              HasSubstr("Try again"));
}

TEST_F(PageTurns, AMessageThatDoesNotFitIsRefusedWithBothCounts) {
  const auto response = post("/api/chat", "session_id=&message=" + words(600));
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr("context holds 512"));
  EXPECT_EQ(store->counts().sessions, 0U);
}

TEST_F(PageTurns, AnEditOrAQueuedMessageThatDoesNotFitIsRefusedAndChangesNothing) {
  const std::string session = finished_session();
  const store::Message answer = last(session);
  const std::string question = "message_id=" + std::to_string(*answer.parent);
  for (const auto& response :
       {post("/api/edit", question + "&message=" + words(600)),
        post("/api/queue", "session_id=" + session + "&message=" + words(600))}) {
    EXPECT_EQ(response.status, 400);
    EXPECT_THAT(response.body, HasSubstr("context holds 512"));
  }
  EXPECT_EQ(store->message(*answer.parent).branch.count, 1U);
  EXPECT_EQ(store->queued(session), std::nullopt);
  EXPECT_EQ(assistant.requests().size(), 1U);
}

TEST_F(PageTurns, AQueuedMessageThatNoLongerFitsSaysHowToMakeRoom) {
  const std::string session = begin();
  for (int n = 0; n < 2; ++n) {
    EXPECT_EQ(post("/api/queue", "session_id=" + session + "&message=" + words(300)).status, 200);
  }
  const auto tab = listen(session);
  turn()->finish(assistant.finished);
  EXPECT_EQ(tab->next("error").data["hint"], "/compact makes room, /clear starts anew.");
  EXPECT_EQ(assistant.requests().size(), 1U);
}

TEST_F(PageTurns, AFullQueueRefusesBeforeAnythingIsStored) {
  const std::string session = finished_session();
  const store::Message answer = last(session);
  assistant.stats_to_give.waiting = assistant.stats_to_give.waiting_max = 64;
  const std::string id = "message_id=" + std::to_string(answer.id);
  for (const auto& response :
       {post("/api/chat", "session_id=&message=Hello"),
        post("/api/chat", "session_id=" + session + "&message=More"), post("/api/regenerate", id),
        post("/api/continue", id),
        post("/api/edit", "message_id=" + std::to_string(*answer.parent) + "&message=Else"),
        post("/api/compact", "session_id=" + session)}) {
    EXPECT_EQ(response.status, 429) << response.body;
    EXPECT_THAT(response.body, HasSubstr("too much to do"));
    EXPECT_EQ(response.headers.find("Retry-After").value_or(""), "2");
  }
  EXPECT_EQ(store->counts().sessions, 1U);
  EXPECT_EQ(last(session).id, answer.id);
  EXPECT_EQ(last(session).branch.count, 1U);
}

TEST_F(PageTurns, FieldsOfAMessageAreCheckedAsTheApiChecksThem) {
  for (const char* wrong : {"seed=1e300", "seed=2.5", "max_tokens=2.5", "max_tokens=-5",
                            "thinking_budget_tokens=-5", "presence_penalty=9", "temperature=3",
                            "top_k=-1", "top_p=none", "think=maybe", "grammar=root"}) {
    const auto response = post("/api/chat", "session_id=&message=Hello&" + std::string(wrong));
    EXPECT_EQ(response.status, 400) << wrong;
    EXPECT_THAT(response.body, HasSubstr(std::string(wrong, std::string(wrong).find('='))));
  }
  EXPECT_THAT(post("/api/chat", "session_id=&message=Hello&max_tokens=-5").body,
              HasSubstr("found -5"));
  EXPECT_EQ(store->counts().sessions, 0U);
  begin("message=Hello&seed=-3&presence_penalty=1&frequency_penalty=0.5&max_tokens=20");
  const chat::AnswerOptions answer = assistant.requests().back().answer;
  EXPECT_EQ(answer.sampling.seed, static_cast<std::uint64_t>(-3));
  EXPECT_EQ(answer.sampling.presence_penalty, 1);
  EXPECT_EQ(answer.sampling.frequency_penalty, 0.5);
  EXPECT_EQ(answer.thinking_budget, 10U);
}

TEST_F(PageTurns, AKilledServerMarksTheUnfinishedAnswerAndOffersToGoOn) {
  const std::string session = begin();
  restart();
  EXPECT_EQ(last(session).answer.state, AnswerState::Interrupted);
  EXPECT_THAT(get("/chat/" + session).body, HasSubstr("Continue this answer"));
}

TEST_F(PageTurns, AnAnswerThatNobodyHearsGetsItsTimeWhenTheServerEnds) {
  const std::string session = begin();
  site->close(std::chrono::hours(1));
  turn()->say("All of it.");
  turn()->finish(assistant.finished);
  site->end();
  EXPECT_FALSE(turn()->cancelled());
  EXPECT_EQ(last(session).answer.state, AnswerState::Done);
  EXPECT_EQ(text_of_answer(last(session)), "All of it.");
}

TEST_F(PageTurns, WhatWaitsForAPersonIsNotWaitedForWhenTheServerEnds) {
  const std::string session = begin("message=6*7&think=off&tools=on");
  const auto tab = listen(session);
  turn()->tell(chat::ToolCall{"call_0001", "calculator", R"({"expression": "6 * 7"})"});
  turn()->finish(assistant.finished);
  while (tab->next("progress").data["phase"] != "asking") {
  }
  site->close(std::chrono::hours(1));
  EXPECT_EQ(tab->next("done").data["reason"], "interrupted");
  site->end();
  EXPECT_EQ(last(session).answer.state, AnswerState::Interrupted);
}

TEST_F(PageTurns, AreMeasuredAsThoseOfTheApi) {
  EXPECT_THAT(metrics.text(nullptr), HasSubstr("time_to_first_token_seconds_count 0\n"));
  finished_session();
  const std::string text = metrics.text(nullptr);
  EXPECT_THAT(text, HasSubstr("time_to_first_token_seconds_count 1\n"));
  EXPECT_THAT(text, HasSubstr("queue_wait_seconds_count 1\n"));
}

TEST_F(PageTurns, AServerThatEndsSavesAndMarksWhatRuns) {
  const std::string session = begin();
  turn()->say("Until here");
  site->end();
  EXPECT_EQ(last(session).answer.state, AnswerState::Interrupted);
  EXPECT_EQ(text_of_answer(last(session)), "Until here");
}

}  // namespace
}  // namespace smol::page
