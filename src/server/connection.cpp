#include "server/connection.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "server/api_error.h"
#include "server/channel.h"
#include "server/random_id.h"
#include "server/reply_sender.h"
#include "server/request_reader.h"

namespace smol::server {

namespace asio = boost::asio;
using Clock = Channel::Clock;

namespace {

constexpr std::chrono::seconds kLinger{2};

// A client may name its request; the name then stands in the log.
bool is_request_id(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  return !text.empty() && text.size() <= kLongest && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

HttpResponse refusal_of(const BadRequest& bad) {
  ApiError error;
  error.status = bad.status();
  error.message = bad.what();
  error.type = bad.status() == 503 ? "server_error" : "invalid_request_error";
  error.code = "bad_request";
  return to_response(error);
}

HttpResponse stopping_response() {
  return to_response({.status = 503,
                      .message = "server: expected to go on, found it stopping",
                      .type = "server_error",
                      .code = "shutting_down"});
}

}  // namespace

// Counts a connection as busy while it lives.
class Busy {
 public:
  explicit Busy(std::atomic<std::size_t>& count) : count_(count) { ++count_; }

  ~Busy() { --count_; }

  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::atomic<std::size_t>& count_;
};

// One coroutine on one strand.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Channel> channel, ConnectionContext& context)
      : channel_(std::move(channel)), context_(context), client_(channel_->peer()) {
    ++context_.metrics.connections;
  }

  ~Connection() {
    release_body();
    --context_.metrics.connections;
  }

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  asio::any_io_executor executor() { return channel_->executor(); }

  asio::awaitable<void> run();
  void end_when_idle();
  void cancel_answer();

  void close() { channel_->close(); }

 private:
  asio::awaitable<bool> serve_one();
  asio::awaitable<bool> read_request(RequestReader& reader);
  asio::awaitable<bool> wait_for_first_byte();
  asio::awaitable<bool> read_until(RequestReader& reader, RequestReader::State state,
                                   Clock::time_point deadline);
  asio::awaitable<bool> send_continue();
  asio::awaitable<void> answer(HttpRequest& request);
  asio::awaitable<Reply> call_handler(HttpRequest& request);
  asio::awaitable<void> refuse(HttpResponse response);
  asio::awaitable<void> send(const HttpRequest& head, Reply reply);

  bool hold_body(std::size_t bytes);
  void release_body();
  std::string_view ended(SendEnd end);

  const std::shared_ptr<Channel> channel_;
  ConnectionContext& context_;
  const std::string client_;
  HttpRequest head_;                 // of the request in hand
  Clock::time_point asked_ = {};     // when its first byte came
  std::shared_ptr<LiveReply> live_;  // the reply in hand, where it is one
  bool idle_ = true;                 // between requests
  bool keep_ = false;                // the connection goes on after this request
  bool ending_ = false;              // no further request
  std::size_t held_bytes_ = 0;
};

asio::awaitable<void> Connection::run() {
  bool goes_on = true;
  while (goes_on) {
    goes_on = co_await serve_one();
  }
  close();
}

// Returns whether the connection goes on.
asio::awaitable<bool> Connection::serve_one() {
  head_ = {};
  head_.client = client_;
  idle_ = true;
  RequestReader reader(context_.limits.header_bytes);
  std::optional<BadRequest> bad;
  bool goes_on = false;
  try {
    goes_on = co_await read_request(reader);
  } catch (const BadRequest& error) {
    bad = error;
  }
  if (bad) {
    keep_ = false;
    if (head_.id.empty()) {
      head_.id = random_id();
    }
    HttpResponse response = refusal_of(*bad);
    co_await refuse(std::move(response));
  }
  release_body();
  co_return goes_on && !channel_->gone() && !ending_ && !channel_->write_failed();
}

asio::awaitable<bool> Connection::wait_for_first_byte() {
  const auto deadline = Clock::now() + context_.limits.keep_alive;
  bool in_time = true;
  while (channel_->unread().empty() && in_time) {
    if (channel_->gone() || ending_ || context_.stopping) {
      co_return false;
    }
    channel_->start_read();
    in_time = co_await channel_->wait(deadline);
  }
  co_return in_time;
}

bool Connection::hold_body(std::size_t bytes) {
  const std::size_t more = bytes - std::min(bytes, held_bytes_);
  const std::size_t all = context_.body_bytes.fetch_add(more) + more;
  held_bytes_ += more;
  return all <= context_.limits.all_bodies_bytes;
}

void Connection::release_body() {
  context_.body_bytes.fetch_sub(std::exchange(held_bytes_, 0));
}

// Returns false where the client left.
asio::awaitable<bool> Connection::read_until(RequestReader& reader, RequestReader::State state,
                                             Clock::time_point deadline) {
  while (true) {
    std::string& unread = channel_->unread();
    unread.erase(0, reader.feed(unread));
    if (!hold_body(reader.state() == RequestReader::State::Head ? 0 : reader.body_bytes())) {
      throw BadRequest{503, "memory for requests: expected some left, found none"};
    }
    if (reader.state() >= state) {
      co_return true;
    }
    if (channel_->gone() || ending_) {
      co_return false;
    }
    channel_->start_read();
    const bool in_time = co_await channel_->wait(deadline);
    if (!in_time) {
      throw BadRequest{408, "request: expected all of it in time, found a part"};
    }
  }
}

asio::awaitable<bool> Connection::send_continue() {
  channel_->queue("HTTP/1.1 100 Continue\r\n\r\n");
  const auto sent = co_await channel_->send_queued(context_.limits.slow_reader);
  co_return sent == Channel::Sent::All;
}

// Returns whether the connection may go on.
asio::awaitable<bool> Connection::read_request(RequestReader& reader) {
  bool goes_on = co_await wait_for_first_byte();
  if (!goes_on) {
    co_return false;
  }
  idle_ = false;
  asked_ = Clock::now();
  const auto deadline = asked_ + context_.limits.request_time;
  goes_on = co_await read_until(reader, RequestReader::State::Body, deadline);
  if (!goes_on) {
    co_return false;
  }
  head_ = reader.head();
  head_.client = client_;
  const auto named = head_.headers.find("X-Request-Id");
  head_.id = named && is_request_id(*named) ? std::string(*named) : random_id();
  if (auto decided = context_.router.decide(head_)) {
    keep_ = reader.state() == RequestReader::State::Complete && reader.keep_alive();
    co_await refuse(std::move(*decided));
    co_return keep_;
  }
  const std::size_t most = context_.router.route_of(head_).body_bytes;
  reader.limit_body(most != 0 ? most : context_.limits.body_bytes);
  if (reader.wants_continue() && channel_->unread().empty()) {
    goes_on = co_await send_continue();
  }
  if (goes_on) {
    goes_on = co_await read_until(reader, RequestReader::State::Complete, deadline);
  }
  if (!goes_on) {
    co_return false;
  }
  HttpRequest request = reader.take();
  request.client = head_.client;
  request.id = head_.id;
  keep_ = reader.keep_alive() && !context_.stopping;
  co_await answer(request);
  co_return keep_;
}

// The answer to a head whose body was not read.
asio::awaitable<void> Connection::refuse(HttpResponse response) {
  co_await send(head_, std::move(response));
  if (!keep_) {
    co_await channel_->linger(kLinger);
  }
}

// A client that leaves meanwhile is noticed afterwards: what the handler began is then given up.
asio::awaitable<Reply> Connection::call_handler(HttpRequest& request) {
  const Router& router = context_.router;
  if (router.route_of(request).is_quick) {
    co_return router.handle(request);
  }
  auto result = std::make_shared<std::optional<Reply>>();
  asio::post(context_.workers, [self = shared_from_this(), result, &router, &request] {
    Reply reply = router.handle(request);
    asio::post(self->executor(), [self, result, made = std::move(reply)]() mutable {
      *result = std::move(made);
      self->channel_->notify();
    });
  });
  while (!*result) {
    channel_->start_read();
    co_await channel_->wait(Clock::time_point::max());
  }
  co_return std::move(**result);
}

asio::awaitable<void> Connection::answer(HttpRequest& request) {
  const Busy busy(context_.busy);
  Reply reply = stopping_response();
  if (!context_.stopping) {
    reply = co_await call_handler(request);
  }
  co_await send(request, std::move(reply));
}

// What the log calls an end; one that came early ends the connection.
std::string_view Connection::ended(SendEnd end) {
  if (end == SendEnd::Done) {
    return "done";
  }
  keep_ = false;
  close();
  const bool is_slow = end == SendEnd::SlowReader;
  ++(is_slow ? context_.metrics.slow_readers : context_.metrics.clients_left);
  return is_slow ? "slow reader" : "client left";
}

asio::awaitable<void> Connection::send(const HttpRequest& head, Reply reply) {
  const std::uint64_t sent_before = channel_->sent_bytes();
  ReplySender sender(*channel_, context_.router, context_.limits, keep_);
  SendEnd end = SendEnd::Done;
  if (auto* whole = std::get_if<HttpResponse>(&reply)) {
    end = co_await sender.send_whole(head, std::move(*whole));
  } else {
    live_ = std::get<std::shared_ptr<LiveReply>>(reply);
    end = co_await sender.send_live(head, *live_);
    live_ = nullptr;
  }
  keep_ = keep_ && sender.keep_alive();
  const std::string_view how = ended(end);
  context_.log.handled(
      {head, sender.status(), channel_->sent_bytes() - sent_before, Clock::now() - asked_, how});
  context_.metrics.count_request(context_.router.label_of(head), sender.status());
}

void Connection::end_when_idle() {
  ending_ = true;
  keep_ = false;
  if (idle_) {
    close();
  }
  channel_->notify();
}

void Connection::cancel_answer() {
  if (live_) {
    live_->cancel();
  }
}

std::shared_ptr<Connection> serve(asio::ip::tcp::socket socket, ConnectionContext& context) {
  auto connection =
      std::make_shared<Connection>(std::make_shared<Channel>(std::move(socket)), context);
  asio::co_spawn(
      connection->executor(), [connection] { return connection->run(); },
      [connection](const std::exception_ptr&) { connection->close(); });
  return connection;
}

void end_when_idle(const std::shared_ptr<Connection>& connection) {
  asio::post(connection->executor(), [connection] { connection->end_when_idle(); });
}

void cancel_answer(const std::shared_ptr<Connection>& connection) {
  asio::post(connection->executor(), [connection] { connection->cancel_answer(); });
}

void close_now(const std::shared_ptr<Connection>& connection) {
  asio::post(connection->executor(), [connection] { connection->close(); });
}

}  // namespace smol::server
