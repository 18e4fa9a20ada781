#include "server/api_error.h"

#include <cstddef>

#include "base/json.h"

namespace smol::server {
namespace {

Json or_null(const std::optional<std::string>& text) {
  return text ? Json(*text) : Json(nullptr);
}

}  // namespace

std::optional<std::string> path_at_start_of(std::string_view message) {
  const std::size_t end = message.find(": ");
  if (end == std::string_view::npos || end == 0 ||
      message.substr(0, end).find_first_of(" \"\n") != std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(message.substr(0, end));
}

ApiError api_error_of(const Error& error) {
  ApiError out;
  out.message = error.what();
  out.param = path_at_start_of(out.message);
  switch (error.code()) {
    case ErrorCode::BadInput:
    case ErrorCode::Unsupported:
      break;
    case ErrorCode::NotFound:
      out.status = 404;
      out.code = out.param == "model" ? "model_not_found" : "not_found";
      break;
    case ErrorCode::Exhausted:
      out.status = 429;
      out.type = "rate_limit_error";
      out.code = "queue_full";
      break;
    case ErrorCode::Io:
    case ErrorCode::Device:
      out.status = 500;
      out.type = "server_error";
      out.param.reset();
      break;
  }
  return out;
}

ApiError cancelled_error() {
  return {.status = 503,
          .message = "answer: expected to be finished, found it cancelled as the server stops",
          .type = "server_error",
          .code = "cancelled"};
}

Json to_json(const ApiError& error) {
  return {{"error",
           {{"message", error.message},
            {"type", error.type},
            {"param", or_null(error.param)},
            {"code", or_null(error.code)}}}};
}

std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

HttpResponse json_response(int status, const Json& value) {
  return {status, {{"Content-Type", "application/json"}}, dumped(value)};
}

HttpResponse to_response(const ApiError& error) {
  HttpResponse response = json_response(error.status, to_json(error));
  if (error.status == 429 || error.status == 503) {
    response.headers.add("Retry-After", kRetryAfterSeconds);
  }
  return response;
}

}  // namespace smol::server
