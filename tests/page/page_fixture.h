// The page's handlers over a fake assistant and a store in a new folder, without sockets.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "page/page_site.h"
#include "server/fake_assistant.h"
#include "server/live_reply.h"
#include "server/router.h"
#include "support/temp_folder.h"

namespace smol::page {

// One event of a stream.
struct Heard {
  std::string name, id;
  Json data;
};

// The text behind the first `before`, up to `behind`.
inline std::string between(const std::string& text, const std::string& before,
                           const std::string& behind) {
  const std::size_t begin = text.find(before);
  if (begin == std::string::npos) {
    return "";
  }
  const std::size_t from = begin + before.size();
  return text.substr(from, text.find(behind, from) - from);
}

// So that a test that waits for what never comes fails by name.
constexpr std::chrono::minutes kPatience{1};

// Reads a live reply as a browser does.
class Tab {
 public:
  explicit Tab(std::shared_ptr<server::LiveReply> reply) : reply_(std::move(reply)) {
    reply_->set_listener([this] {
      const std::lock_guard lock(mutex_);
      has_news_ = true;
      told_.notify_one();
    });
  }

  ~Tab() { reply_->abandon(); }

  Tab(const Tab&) = delete;
  Tab& operator=(const Tab&) = delete;

  // The next event of that name; those before it are passed over.
  Heard next(const std::string& name) {
    while (true) {
      Heard heard = next_event();
      if (heard.name == name || heard.name == "end of stream") {
        EXPECT_EQ(heard.name, name);
        return heard;
      }
    }
  }

  // The text of the deltas up to the end of the turn.
  std::string text_until_done() {
    std::string text;
    while (true) {
      const Heard heard = next_event();
      if (heard.name == "delta") {
        text += heard.data["text"].get<std::string>();
      } else if (heard.name == "done" || heard.name == "error" || heard.name == "end of stream") {
        return text;
      }
    }
  }

  Heard next_event() {
    std::size_t end = 0;
    while ((end = unread_.find("\n\n")) == std::string::npos) {
      if (!read()) {
        return {"end of stream", "", nullptr};
      }
    }
    const std::string block = unread_.substr(0, end + 1);
    unread_.erase(0, end + 2);
    Heard heard{field(block, "event: "), field(block, "id: "), nullptr};
    if (block.starts_with(":")) {
      return next_event();
    }
    heard.data = parse_json(field(block, "data: "), "event");
    return heard;
  }

  // All of a reply that is no stream.
  server::HttpResponse whole() {
    while (read()) {
    }
    return *whole_;
  }

 private:
  static std::string field(const std::string& block, const std::string& name) {
    const std::size_t begin = ("\n" + block).find("\n" + name);
    return begin == std::string::npos
               ? ""
               : block.substr(begin + name.size(), block.find('\n', begin) - begin - name.size());
  }

  bool read() {
    if (is_finished_) {
      return false;
    }
    {
      std::unique_lock lock(mutex_);
      if (!told_.wait_for(lock, kPatience, [this] { return has_news_; })) {
        ADD_FAILURE() << "the stream stands still";
        return false;
      }
      has_news_ = false;
    }
    server::LiveReply::News news = reply_->take();
    unread_ += news.bytes;
    is_finished_ = news.finished;
    if (news.whole) {
      whole_ = std::move(news.whole);
    }
    return true;
  }

  std::shared_ptr<server::LiveReply> reply_;
  std::mutex mutex_;
  std::condition_variable told_;
  bool has_news_ = false, is_finished_ = false;
  std::string unread_;
  std::optional<server::HttpResponse> whole_;
};

class PageTest : public ::testing::Test {
 protected:
  explicit PageTest(server::AccessRules the_rules = {})
      : rules(std::move(the_rules)), router(rules) {
    assistant.be_the_demo();
    open();
  }

  void TearDown() override { site->end(); }

  void open() {
    router = server::Router(rules);
    store = std::make_unique<store::SessionStore>(folder.path() / "data");
    site = std::make_unique<PageSite>(PageFacts{"1.0", "Demo", "demo.gguf", "avx2", 0}, rules,
                                      rules.api_keys.empty() ? "" : rules.api_keys.back());
    site->add_routes(router);
    site->open(assistant, *store, metrics, 2, kept);
  }

  // As after kill -9: what the disk holds is all there is.
  void restart() {
    std::filesystem::copy(folder.path() / "data", folder.path() / "again");
    site->end();
    site.reset();
    store.reset();
    std::filesystem::remove_all(folder.path() / "data");
    std::filesystem::rename(folder.path() / "again", folder.path() / "data");
    open();
  }

  static server::HttpRequest request(std::string method, const std::string& path,
                                     std::string body = "") {
    server::HttpRequest out;
    out.method = std::move(method);
    out.path = path.substr(0, path.find('?'));
    out.query = path.find('?') == std::string::npos ? "" : path.substr(path.find('?') + 1);
    out.headers.add("Host", "localhost:3000");
    out.headers.add("Accept", "text/html");
    out.headers.add("Content-Type", "application/x-www-form-urlencoded");
    out.body = std::move(body);
    out.client = "127.0.0.1";
    out.id = "test";
    return out;
  }

  server::HttpResponse ask(server::HttpRequest request) {
    if (auto decided = router.decide(request)) {
      return *decided;
    }
    server::Reply reply = router.handle(request);
    if (auto* whole = std::get_if<server::HttpResponse>(&reply)) {
      return *whole;
    }
    return Tab(std::get<std::shared_ptr<server::LiveReply>>(reply)).whole();
  }

  server::HttpResponse get(const std::string& path) { return ask(request("GET", path)); }

  server::HttpResponse post(const std::string& path, const std::string& form) {
    return ask(request("POST", path, form));
  }

  // As the page of that session sends it.
  server::HttpResponse post_from(const std::string& session, const std::string& path,
                                 const std::string& form) {
    auto asked = request("POST", path, form);
    asked.headers.add("HX-Current-URL", "http://localhost:3000/chat/" + session + "?x#m-1");
    return ask(std::move(asked));
  }

  Json json(const std::string& path) { return parse_json(get(path).body, path); }

  std::unique_ptr<Tab> listen(const std::string& session, const std::string& last_event_id = "") {
    server::HttpRequest asked = request("GET", "/api/stream/" + session);
    if (!last_event_id.empty()) {
      asked.headers.add("Last-Event-ID", last_event_id);
    }
    server::Reply reply = router.handle(asked);
    return std::make_unique<Tab>(std::get<std::shared_ptr<server::LiveReply>>(reply));
  }

  // A new session whose first answer is being written; its id.
  std::string begin(const std::string& form = "message=Hello&think=off") {
    assistant.hold = true;
    const server::HttpResponse response = post("/api/chat", "session_id=&" + form);
    EXPECT_EQ(response.status, 200) << response.body;
    const auto url = response.headers.find("HX-Replace-Url").value_or("");
    return std::string(url.substr(std::min(url.size(), std::string_view("/chat/").size())));
  }

  // The same, with the answer's end.
  std::string finished_session(const std::string& answer = "Hi there.") {
    std::string session = begin();
    const auto tab = listen(session);
    turn()->say(answer);
    turn()->finish(assistant.finished);
    tab->next("done");
    return session;
  }

  // That many; "+" is a form's space.
  static std::string words(int count, const std::string& word = "word",
                           const std::string& space = "+") {
    std::string out;
    for (int i = 0; i < count; ++i) {
      out += word + space;
    }
    return out;
  }

  // Until the page has begun that many.
  void wait_for_turns(std::size_t count) const {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (assistant.turns().size() < count) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "no further turn begins";
      std::this_thread::yield();
    }
  }

  std::shared_ptr<server::FakeTurn> turn() { return assistant.turns().back(); }

  store::Message last(const std::string& session) {
    return store->message(*store->last_message(session));
  }

  test::TempFolder folder;
  server::AccessRules rules;
  server::FakeAssistant assistant;
  server::Metrics metrics;
  KeptFile kept{folder.path() / "sessions.kv", 1000000, [](const std::string& /*error*/) {}};
  server::Router router;
  std::unique_ptr<store::SessionStore> store;
  std::unique_ptr<PageSite> site;
};

}  // namespace smol::page
