// A reply that is still being made: the place between the thread that makes it and the connection
// that sends it. The maker never waits for a socket: what it says is kept until it is taken.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "server/http_message.h"

namespace smol::server {

struct StreamHead {
  Headers headers;
  std::string heartbeat;  // sent after each `silence` in which nothing else was
  std::chrono::milliseconds silence{10000};
};

// Any thread.
class LiveReply {
 public:
  // What has come since the last take().
  struct News {
    std::optional<HttpResponse> whole;   // all of it, where the reply is no stream
    std::optional<StreamHead> streamed;  // a stream begins: comes once, before its bytes
    std::string bytes;
    bool finished = false;  // nothing follows
  };

  // The maker: either a whole response, or begin(), append() ..., finish(). What is appended before
  // begin() is kept for it. After the end, and once the reader has gone, all do nothing.
  void respond(HttpResponse response);
  void begin(StreamHead head);
  // False: the reader has gone.
  bool append(std::string_view bytes);
  void finish();
  // Called at most once, on the reader's thread, when no work is wanted (any more): early, or after
  // the end. It does not call cancel() or abandon().
  void set_cancel_action(std::function<void()> action);

  // The reader: `listener` is called, on any thread, when there is news after a take(); it must not
  // call back. Called at once if there is news already.
  void set_listener(std::function<void()> listener);
  News take();
  // The work is not wanted any more; how it ends still comes.
  void cancel();
  // The reader has gone, or has all it wanted.
  void abandon();

 private:
  void tell();

  mutable std::mutex mutex_;
  News news_;
  bool begun_ = false, ended_ = false, abandoned_ = false;
  bool told_ = false;
  std::function<void()> listener_, cancel_action_;
};

}  // namespace smol::server
