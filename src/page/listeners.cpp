#include "page/listeners.h"

#include <utility>

#include "server/api_error.h"

namespace smol::page {
namespace {

// False: the reader has gone.
bool send(server::SseStream& stream, std::span<const StreamEvent> events) {
  bool is_there = true;
  for (const StreamEvent& event : events) {
    const std::string data = server::dumped(event.data);
    is_there = stream.send({.data = data, .name = event.name, .id = event.id});
  }
  return is_there;
}

}  // namespace

std::shared_ptr<server::LiveReply> Listeners::add(const store::SessionId& session,
                                                  std::span<const StreamEvent> first) {
  drop_gone();
  auto reply = std::make_shared<server::LiveReply>();
  server::SseStream stream(reply, server::SseHeartbeat::Ping);
  reply->set_cancel_action([weak = std::weak_ptr(reply)] {  // the server stops
    if (const auto held = weak.lock()) {
      held->finish();
    }
  });
  send(stream, first);
  stream.open();
  listeners_[session].push_back({reply, std::move(stream)});
  return reply;
}

void Listeners::tell(const store::SessionId& session, std::span<const StreamEvent> events) {
  const auto found = listeners_.find(session);
  if (found != listeners_.end() && !events.empty()) {
    std::erase_if(found->second,
                  [&](Listener& listener) { return !send(listener.stream, events); });
  }
}

void Listeners::close(const store::SessionId& session) {
  if (const auto found = listeners_.find(session); found != listeners_.end()) {
    for (Listener& listener : found->second) {
      listener.stream.close();
    }
    listeners_.erase(found);
  }
}

std::vector<store::SessionId> Listeners::sessions() const {
  std::vector<store::SessionId> out;
  for (const auto& [session, listeners] : listeners_) {
    out.push_back(session);
  }
  return out;
}

void Listeners::drop_gone() {
  for (auto& [session, listeners] : listeners_) {
    std::erase_if(listeners, [](Listener& listener) { return !listener.reply->append(""); });
  }
  std::erase_if(listeners_, [](const auto& entry) { return entry.second.empty(); });
}

}  // namespace smol::page
