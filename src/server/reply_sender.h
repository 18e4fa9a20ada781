// One reply on its way to the client, whole or as it is made.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <string>
#include <string_view>

#include "server/channel.h"
#include "server/http_message.h"
#include "server/limits.h"
#include "server/live_reply.h"
#include "server/router.h"

namespace smol::server {

enum class SendEnd { Done, ClientLeft, SlowReader };

// On the channel's strand. What is given must outlive it.
class ReplySender {
 public:
  // `keep_alive`: the connection may go on after this reply.
  ReplySender(Channel& channel, const Router& router, const Limits& limits, bool keep_alive)
      : channel_(channel), router_(router), limits_(limits), keep_alive_(keep_alive) {}

  boost::asio::awaitable<SendEnd> send_whole(const HttpRequest& head, HttpResponse response);
  // Follows the reply until it ends or the client does; a client that left has abandoned it.
  boost::asio::awaitable<SendEnd> send_live(const HttpRequest& head, LiveReply& reply);

  int status() const noexcept { return status_; }

  // A stream to an old client ends with its connection.
  bool keep_alive() const noexcept { return keep_alive_; }

 private:
  boost::asio::awaitable<SendEnd> send_news(const HttpRequest& head, LiveReply& reply);
  void queue_head(const HttpRequest& head, HttpResponse& response);
  void queue_part(std::string_view bytes);
  bool queue_news(const HttpRequest& head, LiveReply& reply);

  Channel& channel_;
  const Router& router_;
  const Limits& limits_;
  bool keep_alive_;
  int status_ = 0;
  bool is_streamed_ = false, is_chunked_ = false;
  std::string heartbeat_;
  std::chrono::milliseconds silence_{0};
};

}  // namespace smol::server
