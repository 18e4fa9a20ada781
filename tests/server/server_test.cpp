#include "server/server.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "base/error.h"
#include "server/api_fixture.h"
#include "server/socket_client.h"

namespace smol::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::chrono::milliseconds kNoTime{0}, kSome{50}, kLong{20000};

std::string get_text(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

std::string post_text(const std::string& path, const std::string& body) {
  return "POST " + path +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

class ServerTest : public ApiTest {
 private:
  // The server's threads write to them until it ends: it is destroyed before.
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<std::string> lines_;

 protected:
  ServerTest() : log([this](std::string_view line) { add_line(line); }) {}

  Server& start(const Limits& limits = {}) {
    ServerOptions options;
    options.port = 0;
    options.limits = limits;
    server = std::make_unique<Server>(options, router, metrics, log);
    return *server;
  }

  static std::string chat_text(bool stream) {
    Json body = chat_body();
    body["stream"] = stream;
    return post_text("/v1/chat/completions", body.dump());
  }

  // The turn with this index, once it has been started.
  std::shared_ptr<FakeTurn> turn(std::size_t index) {
    std::vector<std::shared_ptr<FakeTurn>> turns;
    while ((turns = assistant.turns()).size() <= index) {
      std::this_thread::yield();
    }
    return turns[index];
  }

  static void wait_for_cancel(const FakeTurn& turn) {
    while (!turn.cancelled()) {
      std::this_thread::yield();
    }
  }

  // A line of the log that holds this text, once there is one.
  std::string line_with(const std::string& text) {
    std::unique_lock lock(mutex_);
    std::string found;
    added_.wait(lock, [&] {
      for (const std::string& line : lines_) {
        found = line.find(text) == std::string::npos ? found : line;
      }
      return !found.empty();
    });
    return found;
  }

  RequestLog log;
  std::unique_ptr<Server> server;

 private:
  void add_line(std::string_view line) {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
    added_.notify_all();
  }
};

TEST_F(ServerTest, AnswersRequestsOfOneConnectionInTurn) {
  SocketClient client(start().port());
  client.send(get_text("/health") + get_text("/v1/models"));
  EXPECT_THAT(client.read_response(), HasSubstr(R"({"status":"ok"})"));
  EXPECT_THAT(client.read_response(), HasSubstr(R"("object":"list")"));
  client.send(chat_text(false));
  EXPECT_THAT(client.read_response(), HasSubstr("Hello you"));
}

TEST_F(ServerTest, EveryResponseCarriesSafetyHeadersAndItsId) {
  SocketClient client(start().port());
  client.send("GET /health HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: mine-1\r\n\r\n");
  const std::string response = client.read_response();
  EXPECT_THAT(response, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
  EXPECT_THAT(response, HasSubstr("X-Request-Id: mine-1\r\n"));
}

TEST_F(ServerTest, LogsARequestWithoutItsPrompt) {
  SocketClient client(start().port());
  client.send(post_text("/tokenize", R"({"content":"secret"})"));
  client.read_response();
  const Json line = parse_json(line_with("/tokenize"), "line");
  EXPECT_EQ(line["status"], 200);
  EXPECT_EQ(line["end"], "done");
  EXPECT_FALSE(line.contains("body"));
}

TEST_F(ServerTest, StreamsHeadAndCommentBeforeTheFirstToken) {
  assistant.hold = true;
  SocketClient client(start().port());
  client.send(chat_text(true));
  EXPECT_THAT(client.read_until("\r\n\r\n"), HasSubstr("text/event-stream"));
  EXPECT_THAT(client.read_until(":\n\n"), HasSubstr(":\n\n"));
  turn(0)->say("first");
  EXPECT_THAT(client.read_until("first"), HasSubstr("data: "));
  turn(0)->finish(assistant.finished);
  EXPECT_THAT(client.read_until("0\r\n\r\n"), HasSubstr("[DONE]"));
  client.send(get_text("/health"));
  EXPECT_THAT(client.read_response(), StartsWith("HTTP/1.1 200"));
}

TEST_F(ServerTest, AnOldClientGetsAStreamThatEndsWithTheConnection) {
  SocketClient client(start().port());
  const std::string body = R"({"messages":[{"role":"user","content":"Hi"}],"stream":true})";
  client.send("POST /v1/chat/completions HTTP/1.0\r\nHost: localhost\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  const std::string response = client.read_to_end();
  EXPECT_THAT(response, Not(HasSubstr("chunked")));
  EXPECT_TRUE(response.ends_with("data: [DONE]\n\n"));
}

TEST_F(ServerTest, AClientThatLeavesCancelsItsTurn) {
  assistant.hold = true;
  start();
  for (const bool stream : {false, true}) {
    SocketClient client(server->port());
    client.send(chat_text(stream));
    const auto running = turn(stream ? 1 : 0);
    client.leave();
    wait_for_cancel(*running);
  }
  EXPECT_THAT(line_with("client left"), HasSubstr("/v1/chat/completions"));
}

TEST_F(ServerTest, AReaderWithoutProgressIsDropped) {
  assistant.hold = true;
  Limits limits;
  limits.slow_reader = kSome;
  SocketClient client(start(limits).port(), 1024);
  client.send(chat_text(true));
  const auto running = turn(0);
  running->say(std::string(16UL << 20U, 'x'));  // more than the system's buffers hold
  wait_for_cancel(*running);
  EXPECT_THAT(line_with("slow reader"), HasSubstr("/v1/chat/completions"));
  EXPECT_EQ(metrics.slow_readers, 1U);
}

TEST_F(ServerTest, TheEngineDoesNotWaitForAReader) {
  assistant.hold = true;
  SocketClient client(start().port());
  client.send(chat_text(true));
  const auto running = turn(0);
  running->say(std::string(16UL << 20U, 'x'));
  running->finish(assistant.finished);
  EXPECT_THAT(client.read_until("[DONE]"), HasSubstr("xxx"));
}

TEST_F(ServerTest, HalfARequestIsRefusedAfterItsTime) {
  Limits limits;
  limits.request_time = kSome;
  SocketClient client(start(limits).port());
  client.send(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nab");
  EXPECT_THAT(client.read_to_end(), StartsWith("HTTP/1.1 408"));
}

TEST_F(ServerTest, AnIdleConnectionIsClosedAfterItsTime) {
  Limits limits;
  limits.keep_alive = kSome;
  SocketClient client(start(limits).port());
  EXPECT_EQ(client.read_to_end(), "");
}

TEST_F(ServerTest, ABodyThatIsTooLongIsRefusedBeforeItIsSent) {
  Limits limits;
  limits.body_bytes = 1000;
  SocketClient client(start(limits).port());
  client.send(
      "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n"
      "Expect: 100-continue\r\n\r\n");
  const std::string response = client.read_to_end();
  EXPECT_THAT(response, StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(response, HasSubstr("invalid_request_error"));
}

TEST_F(ServerTest, AClientThatWaitsForContinueIsToldToGoOn) {
  SocketClient client(start().port());
  client.send(
      "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send(R"({"content":"ab"})");
  EXPECT_THAT(client.read_response(), StartsWith("HTTP/1.1 200"));
}

TEST_F(ServerTest, AForeignHostIsRefusedBeforeItsBody) {
  SocketClient client(start().port());
  client.send("POST /tokenize HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 100\r\n\r\n");
  EXPECT_THAT(client.read_to_end(), StartsWith("HTTP/1.1 403"));
}

TEST_F(ServerTest, AConnectionTooManyIsTurnedAway) {
  Limits limits;
  limits.connections = 1;
  SocketClient first(start(limits).port());
  first.send(get_text("/health"));
  first.read_response();
  SocketClient second(server->port());
  EXPECT_THAT(second.read_to_end(), HasSubstr("too_many_connections"));
}

TEST_F(ServerTest, ManyIdleConnectionsAreServed) {
  constexpr std::size_t kMany = 200;
  start();
  std::vector<std::unique_ptr<SocketClient>> clients;
  for (std::size_t i = 0; i < kMany; ++i) {
    clients.push_back(std::make_unique<SocketClient>(server->port()));
  }
  for (const auto& client : clients) {
    client->send(get_text("/health"));
  }
  for (const auto& client : clients) {
    EXPECT_THAT(client->read_response(), StartsWith("HTTP/1.1 200"));
  }
}

TEST_F(ServerTest, BodiesOfAllRequestsTogetherAreBounded) {
  Limits limits;
  limits.all_bodies_bytes = 1000;
  SocketClient client(start(limits).port());
  client.send(post_text("/tokenize", std::string(2000, ' ')));
  EXPECT_THAT(client.read_to_end(), StartsWith("HTTP/1.1 503"));
}

TEST_F(ServerTest, ABusyPortIsAnError) {
  ServerOptions options;
  options.port = start().port();
  try {
    Server second(options, router, metrics, log);
    FAIL() << "listens twice";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("--port " + std::to_string(options.port)));
  }
}

TEST_F(ServerTest, StoppingLetsAnAnswerFinish) {
  assistant.hold = true;
  SocketClient client(start().port());
  client.send(chat_text(false));
  const auto running = turn(0);
  std::thread stopping([this] { server->stop(kLong, kNoTime); });
  running->say("the end");
  running->finish(assistant.finished);
  EXPECT_THAT(client.read_to_end(), HasSubstr("the end"));
  stopping.join();
}

TEST_F(ServerTest, StoppingCancelsWhatTakesLongerAndSaysSo) {
  assistant.hold = true;
  SocketClient client(start().port());
  client.send(chat_text(true));
  const auto running = turn(0);
  client.read_until(":\n\n");
  server->stop(kNoTime, kLong);
  EXPECT_TRUE(running->cancelled());
  EXPECT_THAT(client.read_to_end(), HasSubstr("\"cancelled\""));
}

TEST_F(ServerTest, OnlyLoopbackAddressesAreThisMachineAlone) {
  EXPECT_TRUE(is_loopback("localhost"));
  EXPECT_TRUE(is_loopback("::1"));
  EXPECT_FALSE(is_loopback("0.0.0.0"));
  EXPECT_THROW(is_loopback("example.org"), Error);
}

}  // namespace
}  // namespace smol::server
