// Who may ask: Host and Origin (against pages of other sites, and names that were rebound to this
// machine), CORS, API keys. Pure functions of a request's head.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http_message.h"

namespace smol::server {

struct AccessRules {
  std::vector<std::string> hosts = {};     // names for Host beside those of this machine itself
  std::vector<std::string> origins = {};   // "https://example.org": other sites' pages that may ask
  std::vector<std::string> api_keys = {};  // none: nobody is asked for one
};

// "example.org:8080", "[::1]", "localhost" -> lower-case name and port. Nothing for other text.
struct HostPort {
  std::string host;  // without brackets
  std::optional<unsigned> port;
};

std::optional<HostPort> parse_host(std::string_view text);

// "scheme://host" or "scheme://host:port", nothing else. Throws Error{BadInput} naming `what`.
std::string checked_origin(std::string_view what, std::string_view text);

// Where a browser shows its key. Under `Referrer-Policy: no-referrer` it posts a form with
// `Origin: null`, which is allowed there and nowhere else: what is posted must be a key anyway.
inline constexpr std::string_view kDoor = "/login";

// The refusal of a Host or Origin that is not allowed (403), or of a broken Host (400).
std::optional<HttpResponse> refuse_site(const HttpRequest& head, const AccessRules& rules);
// The refusal of a request without one of the keys (401). Takes as long whichever key is given.
std::optional<HttpResponse> refuse_key(const HttpRequest& head, const AccessRules& rules);
// The answer to a preflight request, if this is one. `methods`: what the path takes.
std::optional<HttpResponse> preflight(const HttpRequest& head, std::string_view methods);
// What every response carries: against sniffing, referrers and foreign windows; for the page of
// another site that may ask, that it may read the answer.
void add_safety_headers(const HttpRequest& head, Headers& headers);

}  // namespace smol::server
