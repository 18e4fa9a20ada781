// From a request to its reply: safety first, then the route's handler. A handler is a plain
// function; whatever it throws becomes an error object.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "server/access.h"
#include "server/http_message.h"
#include "server/live_reply.h"

namespace smol::server {

using Reply = std::variant<HttpResponse, std::shared_ptr<LiveReply>>;
using Handler = std::function<Reply(const HttpRequest&)>;

struct Route {
  std::string method;  // GET also answers HEAD
  std::string path;    // "/v1/models/{id}": {…} is one segment, which becomes HttpRequest::rest
  Handler handler;
  bool needs_key = true;
  bool is_quick = false;  // may run where connections are served: it neither waits nor computes
  std::size_t body_bytes = 0;  // the most; 0: the server's limit
};

// Filled before it is used; then any thread.
class Router {
 public:
  explicit Router(AccessRules rules) : rules_(std::move(rules)) {}

  void add(Route route) { routes_.push_back(std::move(route)); }

  // What the head alone decides: a refusal (site, key, path, method), or the answer to a preflight.
  std::optional<HttpResponse> decide(const HttpRequest& head) const;
  // The route of a head that decide() let through.
  const Route& route_of(const HttpRequest& head) const;
  // What metrics call the request: its route's path, or "other".
  std::string_view label_of(const HttpRequest& head) const;
  // Never throws what a handler throws.
  Reply handle(HttpRequest& request) const;
  // What every response to this head carries.
  void complete(const HttpRequest& head, Headers& headers) const;

 private:
  const Route* find(const HttpRequest& head) const;
  std::string methods_of(const HttpRequest& head) const;

  AccessRules rules_;
  std::vector<Route> routes_;
};

}  // namespace smol::server
