#include "server/reply_sender.h"

#include <array>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace smol::server {

namespace asio = boost::asio;
using Clock = Channel::Clock;

namespace {

std::string chunk_of(std::string_view bytes) {
  std::array<char, 20> size{};
  std::size_t at = size.size();
  for (std::size_t left = bytes.size(); left != 0; left /= 16) {
    size[--at] = "0123456789abcdef"[left % 16];
  }
  return std::string(size.data() + at, size.size() - at) + "\r\n" + std::string(bytes) + "\r\n";
}

}  // namespace

void ReplySender::queue_head(const HttpRequest& head, HttpResponse& response) {
  status_ = response.status;
  router_.complete(head, response.headers);
  response.headers.add("Connection", keep_alive_ ? "keep-alive" : "close");
  channel_.queue(head_text(response));
}

void ReplySender::queue_part(std::string_view bytes) {
  if (!bytes.empty()) {
    channel_.queue(is_chunked_ ? chunk_of(bytes) : std::string(bytes));
  }
}

asio::awaitable<SendEnd> ReplySender::send_whole(const HttpRequest& head, HttpResponse response) {
  if (response.status != 204) {
    response.headers.add("Content-Length", std::to_string(response.body.size()));
  }
  queue_head(head, response);
  if (head.method != "HEAD") {
    channel_.queue(response.body);
  }
  const auto sent = co_await channel_.send_queued(limits_.slow_reader);
  if (sent == Channel::Sent::All) {
    co_return SendEnd::Done;
  }
  co_return sent == Channel::Sent::TooSlow ? SendEnd::SlowReader : SendEnd::ClientLeft;
}

// Returns whether that was all.
bool ReplySender::queue_news(const HttpRequest& head, LiveReply& reply) {
  LiveReply::News news = reply.take();
  if (news.whole) {
    news.whole->headers.add("Content-Length", std::to_string(news.whole->body.size()));
    queue_head(head, *news.whole);
    channel_.queue(head.method == "HEAD" ? "" : news.whole->body);
    return true;
  }
  if (news.streamed) {
    is_streamed_ = true;
    is_chunked_ = !head.is_http_1_0;
    heartbeat_ = std::move(news.streamed->heartbeat);
    silence_ = news.streamed->silence;
    keep_alive_ = keep_alive_ && is_chunked_;
    HttpResponse response{200, std::move(news.streamed->headers), ""};
    if (is_chunked_) {
      response.headers.add("Transfer-Encoding", "chunked");
    }
    queue_head(head, response);
  }
  queue_part(news.bytes);
  if (news.finished && is_chunked_) {
    channel_.queue("0\r\n\r\n");
  }
  return news.finished;
}

asio::awaitable<SendEnd> ReplySender::send_news(const HttpRequest& head, LiveReply& reply) {
  bool finished = false;
  auto progress = Clock::now();
  while (true) {
    finished = finished || queue_news(head, reply);
    const bool was_writing = channel_.is_writing();
    channel_.start_write();
    channel_.start_read();
    if (channel_.write_failed() || channel_.gone()) {
      co_return SendEnd::ClientLeft;
    }
    if (finished && !channel_.is_writing()) {
      co_return SendEnd::Done;
    }
    progress = channel_.is_writing() && !was_writing ? Clock::now() : progress;
    const std::uint64_t before = channel_.sent_bytes();
    const auto patience = channel_.is_writing() ? limits_.slow_reader : silence_;
    const bool has_deadline = channel_.is_writing() || is_streamed_;
    const bool told =
        co_await channel_.wait(has_deadline ? progress + patience : Clock::time_point::max());
    progress = channel_.sent_bytes() != before ? Clock::now() : progress;
    if (!told && channel_.is_writing()) {
      co_return SendEnd::SlowReader;
    }
    if (!told) {
      queue_part(heartbeat_);
    }
  }
}

asio::awaitable<SendEnd> ReplySender::send_live(const HttpRequest& head, LiveReply& reply) {
  reply.set_listener([weak = channel_.weak_from_this(), strand = channel_.executor()] {
    asio::post(strand, [weak] {
      if (const auto channel = weak.lock()) {
        channel->notify();
      }
    });
  });
  const SendEnd end = co_await send_news(head, reply);
  reply.abandon();
  co_return end;
}

}  // namespace smol::server
