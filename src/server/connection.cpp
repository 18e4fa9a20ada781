#include "server/connection.h"

#include <algorithm>
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "server/api_error.h"
#include "server/random_id.h"
#include "server/request_reader.h"

namespace smol::server {

namespace asio = boost::asio;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kReadBytes = 64UL << 10U;
constexpr std::size_t kMostPipelinedBytes = 64UL << 10U;
// After a refusal the rest of what the client sends is read and thrown away for so long, so that it
// can read the answer before the connection is reset.
constexpr std::chrono::seconds kLinger{2};

// A client may name its request; the name then stands in the log.
bool is_request_id(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  return !text.empty() && text.size() <= kLongest && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

std::string chunk_of(std::string_view bytes) {
  std::array<char, 20> size{};
  std::size_t at = size.size();
  for (std::size_t left = bytes.size(); left != 0; left /= 16) {
    size[--at] = "0123456789abcdef"[left % 16];
  }
  return std::string(size.data() + at, size.size() - at) + "\r\n" + std::string(bytes) + "\r\n";
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

}  // namespace

// One coroutine on one strand. It waits for one thing only: notify(). Reads, writes, handlers and
// live replies are started, and tell when they have come on.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(asio::ip::tcp::socket socket, ConnectionContext& context)
      : socket_(std::move(socket)), signal_(socket_.get_executor()), context_(context) {
    error_code ignored;
    const auto peer = socket_.remote_endpoint(ignored);
    client_ = ignored ? "" : peer.address().to_string();
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    ++context_.metrics.connections;
  }

  ~Connection() {
    release_body();
    --context_.metrics.connections;
  }

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  asio::awaitable<void> run();
  void end_when_idle();
  void cancel_answer();
  void close();

  asio::any_io_executor executor() { return socket_.get_executor(); }

 private:
  // How one request ended.
  struct Outcome {
    int status = 0;
    std::uint64_t sent_bytes = 0;
    std::string_view end = "done";
  };

  asio::awaitable<bool> serve_one();
  asio::awaitable<bool> read_request(RequestReader& reader);
  asio::awaitable<bool> read_until(RequestReader& reader, RequestReader::State state,
                                   Clock::time_point deadline);
  asio::awaitable<void> answer(HttpRequest& request);
  asio::awaitable<Reply> call_handler(HttpRequest& request);
  asio::awaitable<void> refuse(HttpResponse response);
  asio::awaitable<void> send_whole(const HttpRequest& head, HttpResponse response);
  asio::awaitable<void> send_live(const HttpRequest& head, std::shared_ptr<LiveReply> reply);
  asio::awaitable<bool> send_pending();
  asio::awaitable<void> linger();

  asio::awaitable<bool> wait(Clock::time_point deadline);
  void notify();
  void start_read();
  void start_write();
  void queue(std::string_view bytes);
  void queue_head(const HttpRequest& head, HttpResponse& response);
  bool take_news(const HttpRequest& head, LiveReply& reply);
  bool hold_body(std::size_t bytes);
  void release_body();
  void log(const HttpRequest& request);

  asio::ip::tcp::socket socket_;
  asio::steady_timer signal_;
  ConnectionContext& context_;
  std::string client_;
  bool notified_ = false;
  // Reading.
  std::array<char, kReadBytes> read_buffer_{};
  std::string unread_;  // received, not looked at yet
  bool reading_ = false, gone_ = false;
  // Writing.
  std::string out_, writing_;
  std::size_t written_ = 0;  // of writing_
  bool is_writing_ = false, write_failed_ = false;
  // The request in hand.
  HttpRequest head_;
  Clock::time_point begin_;  // of its answer
  bool idle_ = true, keep_ = false, ending_ = false;
  bool is_streamed_ = false, is_chunked_ = false;
  std::chrono::milliseconds silence_{0};
  std::string heartbeat_;
  std::shared_ptr<LiveReply> live_;
  std::size_t held_bytes_ = 0;
  Outcome outcome_;
};

asio::awaitable<bool> Connection::wait(Clock::time_point deadline) {
  if (!notified_) {
    signal_.expires_at(deadline);
    error_code ignored;
    co_await signal_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  co_return std::exchange(notified_, false);
}

void Connection::notify() {
  notified_ = true;
  signal_.cancel();
}

// One read is under way at most; what a client sends too early stays in the system's buffer.
void Connection::start_read() {
  if (reading_ || gone_ || unread_.size() >= kMostPipelinedBytes) {
    return;
  }
  reading_ = true;
  socket_.async_read_some(asio::buffer(read_buffer_),
                          [self = shared_from_this()](error_code error, std::size_t size) {
                            self->reading_ = false;
                            self->gone_ = static_cast<bool>(error);
                            self->unread_.append(self->read_buffer_.data(), size);
                            self->notify();
                          });
}

void Connection::start_write() {
  if (is_writing_ || write_failed_) {
    return;
  }
  if (written_ == writing_.size()) {
    writing_ = std::exchange(out_, {});
    written_ = 0;
  }
  if (writing_.empty()) {
    return;
  }
  is_writing_ = true;
  const std::string_view rest = std::string_view(writing_).substr(written_);
  socket_.async_write_some(asio::buffer(rest.data(), rest.size()),
                           [self = shared_from_this()](error_code error, std::size_t size) {
                             self->is_writing_ = false;
                             self->write_failed_ = static_cast<bool>(error);
                             self->written_ += size;
                             self->outcome_.sent_bytes += size;
                             self->notify();
                           });
}

void Connection::queue(std::string_view bytes) {
  out_ += bytes;
}

// Returns whether all that was queued has been sent.
asio::awaitable<bool> Connection::send_pending() {
  start_write();
  auto deadline = Clock::now() + context_.limits.slow_reader;
  while (is_writing_) {
    const std::uint64_t before = outcome_.sent_bytes;
    const bool told = co_await wait(deadline);
    if (outcome_.sent_bytes != before) {
      deadline = Clock::now() + context_.limits.slow_reader;
    } else if (!told) {
      ++context_.metrics.slow_readers;
      outcome_.end = "slow reader";
      close();
      co_return false;
    }
    start_write();
  }
  if (write_failed_) {
    outcome_.end = "client left";
  }
  co_return !write_failed_;
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

// Returns false where the client left or took too long.
asio::awaitable<bool> Connection::read_until(RequestReader& reader, RequestReader::State state,
                                             Clock::time_point deadline) {
  while (reader.state() < state) {
    unread_.erase(0, reader.feed(unread_));
    if (!hold_body(reader.state() == RequestReader::State::Head ? 0 : reader.body_bytes())) {
      throw BadRequest{503, "memory for requests: expected some left, found none"};
    }
    if (reader.state() >= state) {
      break;
    }
    if (gone_ || ending_) {
      co_return false;
    }
    start_read();
    if (!co_await wait(deadline)) {
      throw BadRequest{408, "request: expected all of it in time, found a part"};
    }
  }
  co_return true;
}

// Returns false where there is no request to be answered (any more).
asio::awaitable<bool> Connection::read_request(RequestReader& reader) {
  const auto idle_deadline = Clock::now() + context_.limits.keep_alive;
  while (unread_.empty()) {
    if (gone_ || ending_ || context_.stopping) {
      co_return false;
    }
    start_read();
    if (!co_await wait(idle_deadline)) {
      co_return false;
    }
  }
  const auto deadline = Clock::now() + context_.limits.request_time;
  idle_ = false;
  const bool has_head = co_await read_until(reader, RequestReader::State::Body, deadline);
  if (!has_head) {
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
  if (reader.wants_continue() && unread_.empty()) {
    queue("HTTP/1.1 100 Continue\r\n\r\n");
    const bool sent = co_await send_pending();
    if (!sent) {
      co_return false;
    }
  }
  const bool has_body = co_await read_until(reader, RequestReader::State::Complete, deadline);
  if (!has_body) {
    co_return false;
  }
  HttpRequest request = reader.take();
  request.client = head_.client;
  request.id = head_.id;
  keep_ = reader.keep_alive() && !context_.stopping;
  co_await answer(request);
  co_return keep_;
}

// Returns whether the connection goes on.
asio::awaitable<bool> Connection::serve_one() {
  outcome_ = {};
  head_ = {};
  head_.client = client_;
  is_streamed_ = is_chunked_ = false;
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
  co_return goes_on && !gone_ && !ending_ && !write_failed_;
}

asio::awaitable<void> Connection::run() {
  bool goes_on = true;
  while (goes_on) {
    goes_on = co_await serve_one();
  }
  close();
}

// The answer to a head whose body was not read.
asio::awaitable<void> Connection::refuse(HttpResponse response) {
  begin_ = Clock::now();
  co_await send_whole(head_, std::move(response));
  log(head_);
  if (!keep_) {
    co_await linger();
  }
}

asio::awaitable<void> Connection::linger() {
  error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  const auto deadline = Clock::now() + kLinger;
  while (!gone_ && !write_failed_) {
    unread_.clear();
    start_read();
    if (!co_await wait(deadline)) {
      break;
    }
  }
}

void Connection::queue_head(const HttpRequest& head, HttpResponse& response) {
  outcome_.status = response.status;
  context_.router.complete(head, response.headers);
  response.headers.add("Connection", keep_ ? "keep-alive" : "close");
  queue(head_text(response));
}

asio::awaitable<void> Connection::send_whole(const HttpRequest& head, HttpResponse response) {
  if (response.status != 204) {
    response.headers.add("Content-Length", std::to_string(response.body.size()));
  }
  queue_head(head, response);
  if (head.method != "HEAD") {
    queue(response.body);
  }
  co_await send_pending();
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
      self->notify();
    });
  });
  while (!*result) {
    start_read();
    co_await wait(Clock::time_point::max());
  }
  co_return std::move(**result);
}

asio::awaitable<void> Connection::answer(HttpRequest& request) {
  const Busy busy(context_.busy);
  begin_ = Clock::now();
  Reply reply = stopping_response();
  if (!context_.stopping) {
    reply = co_await call_handler(request);
  }
  if (auto* whole = std::get_if<HttpResponse>(&reply)) {
    co_await send_whole(request, std::move(*whole));
  } else {
    live_ = std::get<std::shared_ptr<LiveReply>>(reply);
    co_await send_live(request, live_);
    live_ = nullptr;
  }
  log(request);
}

// Queues what has come. Returns whether that was all.
bool Connection::take_news(const HttpRequest& head, LiveReply& reply) {
  LiveReply::News news = reply.take();
  if (news.whole) {
    news.whole->headers.add("Content-Length", std::to_string(news.whole->body.size()));
    queue_head(head, *news.whole);
    queue(head.method == "HEAD" ? "" : news.whole->body);
    return true;
  }
  if (news.streamed) {
    is_streamed_ = true;
    is_chunked_ = !head.is_http_1_0;
    keep_ = keep_ && is_chunked_;
    heartbeat_ = std::move(news.streamed->heartbeat);
    silence_ = news.streamed->silence;
    HttpResponse response{200, std::move(news.streamed->headers), ""};
    if (is_chunked_) {
      response.headers.add("Transfer-Encoding", "chunked");
    }
    queue_head(head, response);
  }
  if (!news.bytes.empty()) {
    queue(is_chunked_ ? chunk_of(news.bytes) : news.bytes);
  }
  if (news.finished && is_chunked_) {
    queue("0\r\n\r\n");
  }
  return news.finished;
}

asio::awaitable<void> Connection::send_live(const HttpRequest& head,
                                            std::shared_ptr<LiveReply> reply) {
  reply->set_listener([weak = weak_from_this(), strand = executor()] {
    asio::post(strand, [weak] {
      if (const auto self = weak.lock()) {
        self->notify();
      }
    });
  });
  bool finished = false;
  auto progress = Clock::now();
  while (true) {
    finished = finished || take_news(head, *reply);
    const bool was_writing = is_writing_;
    start_write();
    progress = is_writing_ && !was_writing ? Clock::now() : progress;
    start_read();
    if (write_failed_ || gone_ || (finished && !is_writing_)) {
      break;
    }
    const std::uint64_t before = outcome_.sent_bytes;
    const auto patience = is_writing_ ? context_.limits.slow_reader : silence_;
    const bool has_deadline = is_writing_ || is_streamed_;
    const bool told = co_await wait(has_deadline ? progress + patience : Clock::time_point::max());
    if (outcome_.sent_bytes != before) {
      progress = Clock::now();
    }
    if (told) {
      continue;
    }
    if (is_writing_) {
      ++context_.metrics.slow_readers;
      outcome_.end = "slow reader";
      break;
    }
    queue(is_chunked_ ? chunk_of(heartbeat_) : heartbeat_);
    progress = Clock::now();
  }
  if (!finished || is_writing_) {
    if (write_failed_ || gone_) {
      ++context_.metrics.clients_left;
      outcome_.end = "client left";
    }
    keep_ = false;
    close();
  }
  reply->abandon();
}

void Connection::log(const HttpRequest& request) {
  context_.log.handled(
      {request, outcome_.status, outcome_.sent_bytes, Clock::now() - begin_, outcome_.end});
  context_.metrics.count_request(context_.router.label_of(request), outcome_.status);
}

void Connection::end_when_idle() {
  ending_ = true;
  keep_ = false;
  if (idle_) {
    close();
  }
  notify();
}

void Connection::cancel_answer() {
  if (live_) {
    live_->cancel();
  }
}

void Connection::close() {
  gone_ = true;
  error_code ignored;
  socket_.close(ignored);
  notify();
}

std::shared_ptr<Connection> serve(asio::ip::tcp::socket socket, ConnectionContext& context) {
  auto connection = std::make_shared<Connection>(std::move(socket), context);
  asio::co_spawn(
      connection->executor(), [connection] { return connection->run(); },
      [connection](std::exception_ptr) { connection->close(); });
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
