// The API over a fake assistant, without sockets.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.h"
#include "server/fake_assistant.h"
#include "server/metrics.h"
#include "server/openai_api.h"
#include "server/router.h"

namespace smol::server {

// Waits for the end of a live reply.
struct Received {
  HttpResponse whole;
  std::string streamed;
};

inline Received receive(LiveReply& reply) {
  std::mutex mutex;
  std::condition_variable told;
  bool has_news = false;
  reply.set_listener([&] {
    const std::lock_guard lock(mutex);
    has_news = true;
    told.notify_one();
  });
  Received out;
  bool finished = false;
  while (!finished) {
    {
      std::unique_lock lock(mutex);
      told.wait(lock, [&] { return has_news; });
      has_news = false;
    }
    LiveReply::News news = reply.take();
    out.streamed += news.bytes;
    out.whole = news.whole ? *news.whole : out.whole;
    finished = news.finished;
  }
  reply.set_listener(nullptr);
  return out;
}

class ApiTest : public ::testing::Test {
 protected:
  explicit ApiTest(AccessRules rules = {}) : router(std::move(rules)), api(metrics) {
    api.add_routes(router);
    api.set_assistant(assistant);
  }

  static HttpRequest request(std::string method, std::string path, std::string body = "") {
    HttpRequest out;
    out.method = std::move(method);
    out.path = std::move(path);
    out.headers.add("Host", "localhost:3000");
    out.body = std::move(body);
    out.client = "127.0.0.1";
    out.id = "test";
    return out;
  }

  // What the head alone decides, else the handler's whole reply.
  HttpResponse ask(HttpRequest request) {
    if (auto decided = router.decide(request)) {
      return *decided;
    }
    Reply reply = router.handle(request);
    if (auto* whole = std::get_if<HttpResponse>(&reply)) {
      return *whole;
    }
    return receive(*std::get<std::shared_ptr<LiveReply>>(reply)).whole;
  }

  HttpResponse get(const std::string& path) { return ask(request("GET", path)); }

  HttpResponse post(const std::string& path, const std::string& body) {
    return ask(request("POST", path, body));
  }

  static Json json(const HttpResponse& response) { return parse_json(response.body, "response"); }

  Json post_json(const std::string& path, const Json& body) {
    return json(post(path, body.dump()));
  }

  // The data of a stream's events, in order.
  std::vector<std::string> stream(const std::string& path, const Json& body) {
    HttpRequest asked = request("POST", path, body.dump());
    Reply reply = router.handle(asked);
    const auto* live = std::get_if<std::shared_ptr<LiveReply>>(&reply);
    if (live == nullptr) {
      ADD_FAILURE() << "no stream: " << std::get<HttpResponse>(reply).body;
      return {};
    }
    return data_of(receive(**live).streamed);
  }

  static std::vector<std::string> data_of(const std::string& text) {
    std::vector<std::string> out;
    std::size_t at = 0;
    while ((at = text.find("data: ", at)) != std::string::npos) {
      const std::size_t end = text.find("\n\n", at);
      out.push_back(text.substr(at + 6, end - at - 6));
      at = end;
    }
    return out;
  }

  static Json chat_body() {
    return {{"model", "demo"}, {"messages", {{{"role", "user"}, {"content", "Hi"}}}}};
  }

  FakeAssistant assistant;
  Metrics metrics;
  Router router;
  OpenAiApi api;
};

}  // namespace smol::server
