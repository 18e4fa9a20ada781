// Server-sent events (HTML Living Standard, section 9.2) on a live reply.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server/live_reply.h"

namespace smol::server {

struct SseEvent {
  std::string_view data;       // each line of it becomes a data line
  std::string_view name = {};  // without line breaks; "": the browser's "message"
  std::string_view id = {};    // the same; "": none
};

std::string to_text(const SseEvent& event);

// What a reader skips: it only keeps the connection busy.
inline constexpr std::string_view kSseComment = ":\n\n";

// Which heartbeat a stream has: comments for programs, events named "ping" for scripts, which
// cannot see comments.
enum class SseHeartbeat { Comment, Ping };

// Any thread.
class SseStream {
 public:
  // The first comment is sent together with the head, when open() is called; what is sent before
  // that follows it.
  SseStream(std::shared_ptr<LiveReply> reply, SseHeartbeat heartbeat);

  void open();
  // False: the reader has gone.
  bool send(const SseEvent& event);
  void close();

 private:
  std::shared_ptr<LiveReply> reply_;
  SseHeartbeat heartbeat_;
};

}  // namespace smol::server
