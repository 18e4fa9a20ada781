// What the server did, one JSON object a line. Prompts and answers are no part of it unless asked.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/json_fwd.h"
#include "server/http_message.h"

namespace smol::server {

struct HandledRequest {
  const HttpRequest& request;
  int status;
  std::uint64_t sent_bytes;
  std::chrono::nanoseconds duration;
  std::string_view end;  // "done", or why it ended early: "client left", "slow reader" ...
};

// Any thread.
class RequestLog {
 public:
  using Write = std::function<void(std::string_view line)>;  // without a newline

  // Without `write` nothing is logged.
  explicit RequestLog(Write write, bool with_prompts = false)
      : write_(std::move(write)), with_prompts_(with_prompts) {}

  bool with_prompts() const noexcept { return with_prompts_; }

  void handled(const HandledRequest& handled);
  // Anything else worth a line: `event` is one word.
  void note(std::string_view event, std::string_view text);

 private:
  void line(const Json& fields);

  Write write_;
  bool with_prompts_;
  std::mutex mutex_;
};

}  // namespace smol::server
