#include <string>

#include "page/page_fixture.h"
#include "store/export.h"

namespace smol::page {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class PageSessions : public PageTest {};

TEST_F(PageSessions, TheFirstVisitIsAWholePageWithoutARedirect) {
  const auto page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, StartsWith("<!doctype html>"));
  const std::string policy(page.headers.find("Content-Security-Policy").value_or(""));
  const std::string nonce = between(policy, "'nonce-", "'");
  EXPECT_THAT(page.body, HasSubstr("hx-nonce=\"" + nonce + "\""));
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(page.body, Not(HasSubstr(" style=")));
  EXPECT_THAT(get("/").body, Not(HasSubstr(nonce)));
}

TEST_F(PageSessions, APageThatIsNotThereSaysSoInHtml) {
  const auto page = get("/chat/none");
  EXPECT_EQ(page.status, 404);
  EXPECT_THAT(page.body, HasSubstr("There is no such conversation"));
}

TEST_F(PageSessions, PagesSayThatTheModelIsBeingLoaded) {
  site->end();
  const auto page = get("/");
  EXPECT_EQ(page.status, 503);
  EXPECT_THAT(page.body, HasSubstr("The model is being loaded."));
}

TEST_F(PageSessions, CookiesChooseThemeAndSidebar) {
  auto asked = request("GET", "/");
  asked.headers.add("Cookie", "a=b; theme=dark; sidebar=closed");
  const std::string page = ask(std::move(asked)).body;
  EXPECT_THAT(page, HasSubstr("data-theme=\"dark\""));
  EXPECT_THAT(page, HasSubstr("sidebar-closed"));
}

TEST_F(PageSessions, AConversationIsReopenedAsItWas) {
  const std::string session = finished_session("An **answer**.\n\n    code");
  const std::string page = get("/chat/" + session).body;
  EXPECT_THAT(page, HasSubstr("hx-ignore>An **answer**.\n\n    code</div>"));
  EXPECT_THAT(page, HasSubstr("13 / 512"));  // tokens that the answer's turn left in the context
}

TEST_F(PageSessions, OlderMessagesComeWhenTheyAreReached) {
  store::Transcript transcript;
  transcript.session.title = "Long";
  transcript.session.date = std::chrono::year(2026) / 1 / 2;
  for (std::size_t i = 0; i < 100; ++i) {
    store::Transcript::Entry entry;
    entry.message.role = i % 2 == 0 ? store::Role::User : store::Role::Assistant;
    entry.message.text = i % 2 == 0 ? "Question " + std::to_string(i) : "";
    entry.message.answer.state = store::AnswerState::Done;
    entry.parent = i == 0 ? std::nullopt : std::optional(i - 1);
    transcript.entries.push_back(entry);
  }
  transcript.leaf = 99;
  const std::string session = store->insert({transcript}).front();
  const std::string page = get("/chat/" + session).body;
  EXPECT_THAT(page, HasSubstr("Question 98"));
  EXPECT_THAT(page, Not(HasSubstr("Question 58")));
  const std::string before = between(page, "&amp;before=", "\"");
  const std::string older = get("/api/messages?session_id=" + session + "&before=" + before).body;
  EXPECT_THAT(older, HasSubstr("Question 58"));
  EXPECT_THAT(older, Not(HasSubstr("Question 60")));
}

TEST_F(PageSessions, ASessionCanBeRenamedPinnedArchivedAndFound) {
  const std::string session = finished_session("The quick brown fox.");
  const std::string id = "session_id=" + session;
  EXPECT_THAT(post("/api/rename", id + "&title=%3Ci%3E+foxes").body, HasSubstr("&lt;i&gt; foxes"));
  EXPECT_THAT(post("/api/pin", id + "&pinned=true").body, HasSubstr("Pinned"));
  EXPECT_THAT(get("/api/search?q=quick").body, HasSubstr("<mark>quick</mark>"));
  EXPECT_THAT(get("/api/search?q=zebra").body, HasSubstr("Nothing contains"));
  EXPECT_THAT(post("/api/archive", id + "&archived=true").body, HasSubstr("Archive (1)"));
  EXPECT_THAT(get("/api/sessions?archived=true").body, HasSubstr("foxes"));
  EXPECT_EQ(post("/api/rename", id + "&title=+").status, 400);
  EXPECT_EQ(json("/api/session-ids"), Json({session}));
}

TEST_F(PageSessions, WhatIsDeletedCanBeBroughtBack) {
  const std::string session = finished_session();
  const std::string gone = post("/api/delete", "session_id=" + session).body;
  EXPECT_THAT(gone, HasSubstr("was deleted."));
  EXPECT_EQ(get("/chat/" + session).status, 404);
  const std::string undo = between(gone, "undo_id\": \"", "\"");
  EXPECT_THAT(post("/api/undo", "undo_id=" + undo).body, HasSubstr("/chat/" + session));
  const std::string id = std::to_string(last(session).id);
  const std::string shorter = post("/api/delete", "message_id=" + id).body;
  EXPECT_THAT(shorter, Not(HasSubstr("Hi there.")));
  const std::string again = between(shorter, "undo_id\": \"", "\"");
  EXPECT_THAT(post("/api/undo", "undo_id=" + again).body, HasSubstr("Hi there."));
  EXPECT_EQ(post("/api/undo", "undo_id=" + again).status, 400);
}

TEST_F(PageSessions, ExportImportExportIsTheSame) {
  const std::string session = finished_session("Kept.");
  const auto exported = get("/api/export-chat?format=json&session_id=" + session);
  EXPECT_THAT(std::string(exported.headers.find("Content-Disposition").value_or("")),
              HasSubstr("Hello.json"));
  auto asked = request("POST", "/api/import",
                       "--x\r\nContent-Disposition: form-data; name=\"file\"; "
                       "filename=\"a.json\"\r\n\r\n" +
                           exported.body + "\r\n--x--\r\n");
  asked.headers = {{"Host", "localhost"}, {"Content-Type", "multipart/form-data; boundary=x"}};
  EXPECT_THAT(ask(std::move(asked)).body, HasSubstr("1 conversation was imported."));
  for (const Json& id : json("/api/session-ids")) {
    EXPECT_EQ(get("/api/export-chat?format=json&session_id=" + id.get<std::string>()).body,
              exported.body);
  }
  EXPECT_THAT(get("/api/export-chat?session_id=" + session).body, HasSubstr("Kept."));
  EXPECT_EQ(get("/api/export-chat?format=xml&session_id=" + session).status, 400);
  EXPECT_EQ(post("/api/import", "file=none").status, 400);
}

TEST_F(PageSessions, AnImportIsBoundedByItsOwnLimit) {
  PageFacts facts{"1.0", "Demo", "demo.gguf", "avx2", 0};
  facts.most_import_bytes = 1000;
  PageSite small(facts, rules, "");
  server::Router routes(rules);
  small.add_routes(routes);
  small.open(assistant, *store, metrics, 2);
  auto asked = request("POST", "/api/import",
                       "--x\r\nContent-Disposition: form-data; name=\"file\"; "
                       "filename=\"a.json\"\r\n\r\n[" +
                           std::string(1000, ' ') + "]\r\n--x--\r\n");
  EXPECT_EQ(routes.route_of(asked).body_bytes, 1000);
  asked.headers = {{"Host", "localhost"}, {"Content-Type", "multipart/form-data; boundary=x"}};
  const auto reply = std::get<server::HttpResponse>(routes.handle(asked));
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.body, HasSubstr("1000 bytes"));
  small.end();
}

TEST_F(PageSessions, AConversationThatIsGoneIsSaidInPlainWords) {
  const auto refused = post("/api/chat", "session_id=none&message=Hello");
  EXPECT_EQ(refused.status, 404);
  EXPECT_THAT(refused.body, HasSubstr("It is not there any more."));
  EXPECT_THAT(refused.body, Not(HasSubstr("expected")));
}

TEST_F(PageSessions, ABrowserThatKeepsALongConversationGetsAllOfIt) {
  const std::string session = finished_session("The first answer.");
  for (int i = 0; i < 20; ++i) {
    post("/api/chat", "session_id=" + session + "&message=More&think=off");
    const auto tab = listen(session);
    turn()->say("Another.");
    turn()->finish(assistant.finished);
    tab->next("done");
  }
  EXPECT_THAT(get("/chat/" + session).body, Not(HasSubstr("The first answer.")));
  const std::string whole = get("/chat/" + session + "?whole=true").body;
  EXPECT_THAT(whole, HasSubstr("The first answer."));
  EXPECT_THAT(whole, Not(HasSubstr("Loading older messages")));
}

TEST_F(PageSessions, SettingsBelongToTheirSession) {
  const std::string session = finished_session();
  const std::string id = "session_id=" + session;
  const auto wrong = post("/api/settings", id + "&temperature=9&top_p=0.5");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("Between 0 and 2, please."));
  EXPECT_THAT(post("/api/settings", id + "&temperature=0.3&max_tokens=50&system=Be+brief").body,
              HasSubstr("Saved."));
  EXPECT_THAT(post("/api/set-temperature", id + "&temperature=1.5").body,
              HasSubstr("Temperature 1.5 from now on."));
  EXPECT_EQ(post("/api/set-temperature", id + "&temperature=x").status, 400);
  post("/api/chat", id + "&message=More&think=off");
  const chat::TurnRequest asked = assistant.requests().back();
  EXPECT_EQ(asked.answer.sampling.temperature, 1.5);
  EXPECT_EQ(asked.answer.max_tokens, 50U);
  EXPECT_EQ(asked.answer.thinking_budget, 25U);
  EXPECT_THAT(asked.prompt.text.bytes(), HasSubstr("Be brief"));
}

TEST_F(PageSessions, ToolsAreCalledWhereTheSettingsAllowThem) {
  const std::string session = finished_session();
  const auto asks_with_tools = [&](const std::string& fields) {
    post("/api/chat", "session_id=" + session + "&message=More&think=off" + fields);
    const bool has_tools = !assistant.requests().back().options.tools.empty();
    const auto tab = listen(session);
    turn()->finish(assistant.finished);
    tab->next("done");
    return has_tools;
  };
  EXPECT_FALSE(asks_with_tools(""));
  EXPECT_THAT(post("/api/settings", "session_id=" + session + "&tools=off&tools=on").body,
              HasSubstr("value=\"on\" checked"));
  EXPECT_TRUE(asks_with_tools(""));
  EXPECT_FALSE(asks_with_tools("&tools=off"));
  restart();
  EXPECT_TRUE(asks_with_tools(""));
  post("/api/settings", "session_id=" + session + "&tools=off");
  EXPECT_FALSE(asks_with_tools(""));
}

TEST_F(PageSessions, SettingsOfTheNextConversationOutliveTheServer) {
  post("/api/settings", "session_id=&temperature=0.4&system=Be+brief");
  EXPECT_THAT(get("/").body, HasSubstr("form=\"composer\" checked"));
  post("/api/toggle-thinking", "session_id=&think=off");
  restart();
  EXPECT_THAT(get("/api/settings?session_id=").body,
              HasSubstr("name=\"temperature\" value=\"0.4\""));
  EXPECT_THAT(get("/").body, Not(HasSubstr("form=\"composer\" checked")));
  begin("message=Hello");
  const chat::TurnRequest asked = assistant.requests().back();
  EXPECT_EQ(asked.answer.sampling.temperature, 0.4);
  EXPECT_EQ(asked.options.think, chat::ThinkMode::Off);
  EXPECT_THAT(asked.prompt.text.bytes(), HasSubstr("Be brief"));
}

TEST_F(PageSessions, ThinkingIsSwitchedWithItsPrice) {
  const std::string session = finished_session();
  const std::string answer =
      post("/api/toggle-thinking", "session_id=" + session + "&think=off&think=on").body;
  EXPECT_THAT(answer, HasSubstr("recomputes "));
  EXPECT_TRUE(store->session(session).settings.think);
  post("/api/toggle-thinking", "session_id=" + session + "&think=off");
  EXPECT_FALSE(store->session(session).settings.think);
}

TEST_F(PageSessions, ARequestWithoutABodyMayNameItsType) {
  server::HttpRequest plain = request("GET", "/api/session-ids");
  plain.headers = {{"Host", "localhost:3000"}, {"Content-Type", "application/json"}};
  EXPECT_EQ(ask(std::move(plain)).status, 200);
}

TEST_F(PageSessions, ThinkingIsSwitchedWhereAllWasForgotten) {
  const std::string session = finished_session();
  post("/api/reset-context", "session_id=" + session);
  EXPECT_EQ(post("/api/toggle-thinking", "session_id=" + session + "&think=off").status, 200);
  EXPECT_THAT(get("/api/price?session_id=" + session).body, HasSubstr("\"total\":0"));
}

TEST_F(PageSessions, FilesAreCountedAndStandBeforeTheText) {
  const std::string chip = post("/api/attachment", "name=a.txt&text=one+two+three").body;
  EXPECT_THAT(chip, HasSubstr(" tokens"));
  EXPECT_THAT(chip, HasSubstr("value=\"a.txt\""));
  begin("message=See&think=off&attachment_name=a.txt&attachment_text=one+two");
  EXPECT_THAT(assistant.requests()[0].prompt.text.bytes(), HasSubstr("File a.txt:\n\none two"));
}

TEST_F(PageSessions, ResetLetsTheModelForget) {
  const std::string session = finished_session("Secret.");
  EXPECT_THAT(post("/api/reset-context", "session_id=" + session).body, HasSubstr("forgotten"));
  post("/api/chat", "session_id=" + session + "&message=More&think=off");
  EXPECT_THAT(assistant.requests().back().prompt.text.bytes(), Not(HasSubstr("Secret.")));
}

TEST_F(PageSessions, StatusTellsWhatRuns) {
  const std::string session = begin();
  const Json status = json("/api/status?session_id=" + session);
  EXPECT_EQ(status["turn"]["phase"], "queued");
  EXPECT_EQ(status["last"], std::to_string(last(session).id));
  EXPECT_EQ(json("/api/model-info")["context"], 512);
  assistant.stats_to_give.running = 1;
  EXPECT_THAT(get("/status").body, HasSubstr("1 running"));
  EXPECT_THAT(get("/status/live").body, HasSubstr("KV cache"));
}

class PageWithKey : public PageTest {
 protected:
  PageWithKey() : PageTest({.api_keys = {"secret", "token"}}) {}
};

TEST_F(PageWithKey, IsEnteredByALogin) {
  EXPECT_EQ(get("/").headers.find("Location"), "/login");
  auto fragment = request("GET", "/api/sessions");
  fragment.headers.add("HX-Request", "true");
  EXPECT_EQ(ask(std::move(fragment)).status, 401);
  EXPECT_EQ(get("/static/app.js").status, 200);
  EXPECT_THAT(get("/offline").body, HasSubstr("cannot be reached"));
  EXPECT_THAT(get("/login").body, HasSubstr("Sign in"));
  EXPECT_EQ(post("/login", "key=wrong").headers.find("Location"), "/login?failed=1");
  const auto entered = post("/login", "key=secret");
  EXPECT_EQ(entered.headers.find("Location"), "/");
  const std::string cookie(entered.headers.find("Set-Cookie").value_or(""));
  EXPECT_THAT(cookie, HasSubstr("HttpOnly; SameSite=Strict"));
  EXPECT_THAT(cookie, Not(HasSubstr("secret")));
  auto asked = request("GET", "/");
  asked.headers.add("Cookie", "x=y; " + cookie.substr(0, cookie.find(';')));
  EXPECT_EQ(ask(std::move(asked)).status, 200);
}

TEST_F(PageWithKey, HandsItsCookieToHttpsAloneWhereAProxyOnThisMachineTakesHttps) {
  const auto cookie = [&](const std::string& client, const std::string& proto) {
    auto asked = request("POST", "/login", "key=secret");
    asked.client = client;
    asked.headers.add("X-Forwarded-Proto", proto);
    return std::string(ask(std::move(asked)).headers.find("Set-Cookie").value_or(""));
  };
  EXPECT_THAT(cookie("127.0.0.1", "https"), HasSubstr("; Secure"));
  EXPECT_THAT(cookie("::1", "https"), HasSubstr("; Secure"));
  EXPECT_THAT(cookie("127.0.0.1", "http"), Not(HasSubstr("Secure")));
  EXPECT_THAT(cookie("192.168.1.7", "https"), Not(HasSubstr("Secure")));
}

}  // namespace
}  // namespace smol::page
