// The open pages of each session: who hears its events.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "page/live_answer.h"
#include "server/live_reply.h"
#include "server/sse.h"
#include "store/types.h"

namespace smol::page {

// One thread at a time.
class Listeners {
 public:
  // A stream that is told `first` and then what tell() says.
  std::shared_ptr<server::LiveReply> add(const store::SessionId& session,
                                         std::span<const StreamEvent> first);
  void tell(const store::SessionId& session, std::span<const StreamEvent> events);
  // Ends the streams of this session.
  void close(const store::SessionId& session);
  std::vector<store::SessionId> sessions() const;

 private:
  struct Listener {
    std::shared_ptr<server::LiveReply> reply;
    server::SseStream stream;
  };

  void drop_gone();

  std::map<store::SessionId, std::vector<Listener>> listeners_;
};

}  // namespace smol::page
