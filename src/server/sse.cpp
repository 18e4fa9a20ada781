#include "server/sse.h"

#include <chrono>
#include <cstddef>
#include <utility>

namespace smol::server {
namespace {

constexpr std::chrono::seconds kCommentPeriod{10};
constexpr std::chrono::seconds kPingPeriod{15};

}  // namespace

std::string to_text(const SseEvent& event) {
  std::string out;
  out.reserve(event.data.size() + event.name.size() + event.id.size() + 32);
  if (!event.id.empty()) {
    out.append("id: ").append(event.id).append("\n");
  }
  if (!event.name.empty()) {
    out.append("event: ").append(event.name).append("\n");
  }
  std::string_view rest = event.data;
  while (true) {
    const std::size_t end = rest.find_first_of("\r\n");
    out.append("data: ").append(rest.substr(0, end)).append("\n");
    if (end == std::string_view::npos) {
      return out += '\n';
    }
    rest.remove_prefix(end + (rest.substr(end, 2) == "\r\n" ? 2 : 1));
  }
}

SseStream::SseStream(std::shared_ptr<LiveReply> reply, SseHeartbeat heartbeat)
    : reply_(std::move(reply)), heartbeat_(heartbeat) {
  reply_->append(kSseComment);
}

void SseStream::open() {
  const bool pings = heartbeat_ == SseHeartbeat::Ping;
  StreamHead head;
  head.headers = {{"Content-Type", "text/event-stream; charset=utf-8"},
                  {"Cache-Control", "no-cache, no-transform"},
                  {"X-Accel-Buffering", "no"}};
  head.heartbeat = pings ? to_text({.data = "{}", .name = "ping"}) : std::string(kSseComment);
  head.silence = pings ? kPingPeriod : kCommentPeriod;
  reply_->begin(std::move(head));
}

bool SseStream::send(const SseEvent& event) {
  return reply_->append(to_text(event));
}

void SseStream::close() {
  reply_->finish();
}

}  // namespace smol::server
