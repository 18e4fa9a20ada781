#include "server/request_log.h"

#include <algorithm>
#include <cstddef>
#include <ctime>

#include "base/json.h"
#include "server/api_error.h"

namespace smol::server {
namespace {

// 2026-11-28T13:17:52.123Z
std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto fraction = std::chrono::duration_cast<std::chrono::milliseconds>(
                            now - std::chrono::system_clock::from_time_t(seconds))
                            .count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::string out(32, '\0');
  out.resize(std::strftime(out.data(), out.size(), "%Y-%m-%dT%H:%M:%S", &parts));
  const std::string digits = std::to_string(fraction < 0 ? 0 : fraction);
  return out + "." + std::string(3 - std::min<std::size_t>(3, digits.size()), '0') + digits + "Z";
}

}  // namespace

void RequestLog::line(const Json& fields) {
  if (!write_) {
    return;
  }
  Json out = {{"time", utc_now()}};
  out.update(fields);
  const std::string text = dumped(out);
  const std::lock_guard lock(mutex_);
  write_(text);
}

void RequestLog::handled(const HandledRequest& handled) {
  const HttpRequest& request = handled.request;
  Json fields = {
      {"event", "request"},
      {"id", request.id},
      {"client", request.client},
      {"method", request.method},
      {"path", request.path},
      {"status", handled.status},
      {"end", handled.end},
      {"bytes", handled.sent_bytes},
      {"ms", std::chrono::duration_cast<std::chrono::milliseconds>(handled.duration).count()}};
  if (with_prompts_) {
    fields["body"] = request.body;
  }
  line(fields);
}

void RequestLog::note(std::string_view event, std::string_view text) {
  line({{"event", event}, {"text", text}});
}

}  // namespace smol::server
