// Errors as OpenAI's clients read them:
// {"error": {"message", "type", "param", "code"}}.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json_fwd.h"
#include "server/http_message.h"

namespace smol::server {

struct ApiError {
  int status = 400;
  std::string message;
  std::string type = "invalid_request_error";
  std::optional<std::string> param = {};  // the field's path: "messages[2].content"
  std::optional<std::string> code = {};
};

// BadInput and Unsupported are 400, NotFound 404, Exhausted 429, all others 500. `param` is what
// the message begins with, where that is a path: "stop[1]: expected ...".
ApiError api_error_of(const Error& error);
// The path that a message begins with.
std::optional<std::string> path_at_start_of(std::string_view message);

// Of an answer that the server did not let come to its end.
ApiError cancelled_error();

Json to_json(const ApiError& error);
// What 429 and 503 say in Retry-After.
inline constexpr std::string_view kRetryAfterSeconds = "2";
// With Retry-After for 429 and 503.
HttpResponse to_response(const ApiError& error);
HttpResponse json_response(int status, const Json& value);
// As compact JSON; invalid UTF-8 becomes U+FFFD.
std::string dumped(const Json& value);

}  // namespace smol::server
