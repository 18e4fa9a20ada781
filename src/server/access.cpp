#include "server/access.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

#include "base/error.h"
#include "server/api_error.h"

namespace smol::server {
namespace {

constexpr std::string_view kNoOrigin = "null";
constexpr unsigned kHttpPort = 80, kHttpsPort = 443, kLargestPort = 65535;

std::string lowered(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

bool is_host_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_' ||
         c == ':';
}

bool is_token(std::string_view text, std::string_view also) {
  return !text.empty() && std::ranges::all_of(text, [also](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || also.find(c) != std::string_view::npos;
  });
}

struct Origin {
  std::string host;
  unsigned port;
  bool is_https;
};

std::optional<Origin> parse_origin(std::string_view text) {
  const std::string origin = lowered(text);
  const std::string_view scheme = origin.starts_with("https://") ? "https://" : "http://";
  if (!origin.starts_with(scheme)) {
    return std::nullopt;
  }
  const bool is_https = scheme.size() == std::string_view("https://").size();
  const auto host = parse_host(std::string_view(origin).substr(scheme.size()));
  if (!host) {
    return std::nullopt;
  }
  return Origin{host->host, host->port.value_or(is_https ? kHttpsPort : kHttpPort), is_https};
}

bool is_allowed_host(const HostPort& host, const AccessRules& rules) {
  constexpr std::array<std::string_view, 3> kThisMachine{"127.0.0.1", "localhost", "::1"};
  return std::ranges::find(kThisMachine, host.host) != kThisMachine.end() ||
         std::ranges::any_of(rules.hosts,
                             [&](const std::string& name) { return lowered(name) == host.host; });
}

bool is_allowed_origin(std::string_view text, const HostPort& host, const AccessRules& rules) {
  const std::string wanted = lowered(text);
  if (std::ranges::any_of(rules.origins,
                          [&](const std::string& name) { return lowered(name) == wanted; })) {
    return true;
  }
  const auto origin = parse_origin(text);
  return origin && origin->host == host.host &&
         origin->port == host.port.value_or(origin->is_https ? kHttpsPort : kHttpPort);
}

bool is_at_the_door(const HttpRequest& head) {
  return head.method == "POST" && head.path == kDoor;
}

HttpResponse forbidden(std::string message, std::string code) {
  return to_response({.status = 403,
                      .message = std::move(message),
                      .type = "permission_error",
                      .code = std::move(code)});
}

// Looks at every byte of the longer text.
bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
  std::size_t difference = a.size() ^ b.size();
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const char x = i < a.size() ? a[i] : '\0';
    const char y = i < b.size() ? b[i] : '\0';
    difference |= static_cast<unsigned char>(x ^ y);
  }
  return difference == 0;
}

bool is_key(std::string_view given, const AccessRules& rules) noexcept {
  bool is_known = false;
  for (const std::string& key : rules.api_keys) {
    const bool is_this = equal_in_constant_time(given, key);
    is_known = is_known || is_this;
  }
  return is_known;
}

constexpr std::string_view kCookie = "smolbot=";

// One of the keys among the cookies: what a browser sends that showed one at the page's door.
bool has_key_cookie(const HttpRequest& head, const AccessRules& rules) {
  std::string_view rest = head.headers.find("Cookie").value_or("");
  bool has_it = false;
  while (!rest.empty()) {
    std::string_view pair = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    pair.remove_prefix(std::min(pair.size(), pair.find_first_not_of(' ')));
    has_it = has_it || (pair.starts_with(kCookie) && is_key(pair.substr(kCookie.size()), rules));
  }
  return has_it;
}

}  // namespace

std::optional<HostPort> parse_host(std::string_view text) {
  HostPort out;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    out.host = lowered(text.substr(1, end - 1));
    rest = text.substr(end + 1);
  } else {
    const std::size_t end = std::min(text.find(':'), text.size());
    out.host = lowered(text.substr(0, end));
    rest = text.substr(end);
  }
  if (out.host.empty() || !std::ranges::all_of(out.host, is_host_character)) {
    return std::nullopt;
  }
  if (rest.empty()) {
    return out;
  }
  unsigned port = 0;
  const char* end = rest.data() + rest.size();
  const auto read = std::from_chars(rest.data() + 1, end, port);
  if (rest.front() != ':' || read.ec != std::errc{} || read.ptr != end || port > kLargestPort) {
    return std::nullopt;
  }
  out.port = port;
  return out;
}

std::string checked_origin(std::string_view what, std::string_view text) {
  if (!parse_origin(text)) {
    throw Error{ErrorCode::BadInput, std::string(what) +
                                         ": expected scheme://host or scheme://host:port (http or "
                                         "https), found " +
                                         std::string(text)};
  }
  return lowered(text);
}

std::optional<HttpResponse> refuse_site(const HttpRequest& head, const AccessRules& rules) {
  const std::size_t n_hosts = head.headers.count("Host");
  if (n_hosts > 1 || (n_hosts == 0 && !head.is_http_1_0)) {
    return to_response({.message = "Host: expected one field, found " + std::to_string(n_hosts),
                        .code = "bad_host"});
  }
  const auto host = parse_host(head.headers.find("Host").value_or(""));
  if (!host || !is_allowed_host(*host, rules)) {
    return forbidden(
        "Host: expected a name of this machine, found another one (--allow-host "
        "allows it)",
        "host_not_allowed");
  }
  for (const HeaderField& field : head.headers) {
    const bool is_form = field.value == kNoOrigin && is_at_the_door(head);
    if (same_name(field.name, "Origin") && !is_form &&
        !is_allowed_origin(field.value, *host, rules)) {
      return forbidden(
          "Origin: expected this server's own, found another one (--allow-origin "
          "allows it)",
          "origin_not_allowed");
    }
  }
  return std::nullopt;
}

std::optional<HttpResponse> refuse_key(const HttpRequest& head, const AccessRules& rules) {
  if (rules.api_keys.empty()) {
    return std::nullopt;
  }
  constexpr std::string_view kBearer = "Bearer ";
  std::string_view given = head.headers.find("Authorization").value_or("");
  const bool is_bearer =
      given.size() > kBearer.size() && same_name(given.substr(0, kBearer.size()), kBearer);
  given.remove_prefix(is_bearer ? kBearer.size() : given.size());
  if (is_key(given, rules) || has_key_cookie(head, rules)) {
    return std::nullopt;
  }
  HttpResponse response = to_response(
      {.status = 401,
       .message = is_bearer ? "Authorization: expected a key that this server knows, found another"
                            : "Authorization: expected \"Bearer KEY\", found none",
       .type = "authentication_error",
       .code = "invalid_api_key"});
  response.headers.add("WWW-Authenticate", "Bearer");
  return response;
}

std::optional<HttpResponse> preflight(const HttpRequest& head, std::string_view methods) {
  if (head.method != "OPTIONS" || !head.headers.find("Origin") ||
      !head.headers.find("Access-Control-Request-Method")) {
    return std::nullopt;
  }
  HttpResponse response{204, {}, ""};
  response.headers.add("Access-Control-Allow-Methods", methods);
  const auto wanted = head.headers.find("Access-Control-Request-Headers");
  if (wanted && is_token(*wanted, ", ")) {
    response.headers.add("Access-Control-Allow-Headers", *wanted);
  }
  response.headers.add("Access-Control-Max-Age", "600");
  if (head.headers.find("Access-Control-Request-Private-Network")) {
    response.headers.add("Access-Control-Allow-Private-Network", "true");
  }
  return response;
}

void add_safety_headers(const HttpRequest& head, Headers& headers) {
  headers.add("X-Content-Type-Options", "nosniff");
  headers.add("Referrer-Policy", "no-referrer");
  headers.add("Cross-Origin-Opener-Policy", "same-origin");
  headers.add("Vary", "Origin");
  const auto origin = head.headers.find("Origin");
  if (origin && origin != kNoOrigin) {
    headers.add("Access-Control-Allow-Origin", *origin);
    headers.add("Access-Control-Expose-Headers", "X-Request-Id, Retry-After");
  }
}

}  // namespace smol::server
