#include "server/router.h"

#include <algorithm>
#include <exception>
#include <new>
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "server/api_error.h"

namespace smol::server {
namespace {

std::string_view effective_method(const HttpRequest& head) {
  return head.method == "HEAD" ? std::string_view("GET") : std::string_view(head.method);
}

// A browser that goes to an address, not a script of the page.
bool asks_for_page(const HttpRequest& head) {
  return head.method == "GET" && !head.headers.find("HX-Request") &&
         head.headers.find("Accept").value_or("").find("text/html") != std::string_view::npos;
}

// What the path has in place of {…}, as sent; "" where the pattern has none. Nothing: no match.
std::optional<std::string_view> match(std::string_view pattern, std::string_view path) {
  const std::size_t brace = pattern.find('{');
  if (brace == std::string_view::npos) {
    return pattern == path ? std::optional<std::string_view>("") : std::nullopt;
  }
  if (!path.starts_with(pattern.substr(0, brace))) {
    return std::nullopt;
  }
  path.remove_prefix(brace);
  return path.empty() || path.find('/') != std::string_view::npos ? std::nullopt
                                                                  : std::optional(path);
}

HttpResponse not_there(const HttpRequest& head, const std::string& methods) {
  if (methods.empty()) {
    return to_response({.status = 404,
                        .message = "path: expected one that docs/api.md lists, found another",
                        .code = "unknown_url"});
  }
  HttpResponse response =
      to_response({.status = 405,
                   .message = "method: expected " + methods + ", found " +
                              (head.method.size() > 20 ? "another" : head.method),
                   .code = "method_not_allowed"});
  response.headers.add("Allow", methods);
  return response;
}

ApiError server_error(int status, std::string message, std::string code) {
  return {.status = status,
          .message = std::move(message),
          .type = "server_error",
          .code = std::move(code)};
}

}  // namespace

const Route* Router::find(const HttpRequest& head) const {
  for (const Route& route : routes_) {
    if (route.method == effective_method(head) && match(route.path, head.path)) {
      return &route;
    }
  }
  return nullptr;
}

std::string Router::methods_of(const HttpRequest& head) const {
  std::string out;
  for (const Route& route : routes_) {
    if (match(route.path, head.path)) {
      out += (out.empty() ? "" : ", ") + route.method;
    }
  }
  return out;
}

std::optional<HttpResponse> Router::decide(const HttpRequest& head) const {
  if (auto refusal = refuse_site(head, rules_)) {
    return refusal;
  }
  const std::string methods = methods_of(head);
  if (!methods.empty()) {
    if (auto answer = preflight(head, methods)) {
      return answer;
    }
  }
  const Route* route = find(head);
  if (route == nullptr || route->needs_key) {
    if (auto refusal = refuse_key(head, rules_)) {
      return asks_for_page(head) && std::ranges::any_of(
                                        routes_, [](const Route& one) { return one.path == kDoor; })
                 ? HttpResponse{303, {{"Location", std::string(kDoor)}}, ""}
                 : std::move(*refusal);
    }
  }
  return route == nullptr ? std::optional(not_there(head, methods)) : std::nullopt;
}

const Route& Router::route_of(const HttpRequest& head) const {
  const Route* route = find(head);
  SMOL_CHECK(route != nullptr);
  return *route;
}

std::string_view Router::label_of(const HttpRequest& head) const {
  const Route* route = find(head);
  return route == nullptr ? std::string_view("other") : std::string_view(route->path);
}

Reply Router::handle(HttpRequest& request) const {
  const Route& route = route_of(request);
  try {
    const auto rest = percent_decoded(*match(route.path, request.path));
    if (!rest) {
      return to_response({.message = "path: expected UTF-8 and whole escapes, found others"});
    }
    request.rest = *rest;
    return route.handler(request);
  } catch (const Error& error) {
    return to_response(api_error_of(error));
  } catch (const std::bad_alloc&) {
    return to_response(server_error(503,
                                    "memory: expected enough for this request, found none "
                                    "left",
                                    "out_of_memory"));
  } catch (const std::exception& error) {
    return to_response(server_error(500, error.what(), "internal_error"));
  }
}

void Router::complete(const HttpRequest& head, Headers& headers) const {
  if (refuse_site(head, rules_)) {
    HttpRequest stranger;  // whom no header says that it may read the answer
    add_safety_headers(stranger, headers);
  } else {
    add_safety_headers(head, headers);
  }
  headers.add("X-Request-Id", head.id);
}

}  // namespace smol::server
