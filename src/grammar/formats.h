// JSON Schema's `format`s that are enforced, as regular expressions of ECMA-262.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace smol::grammar {

// date, time, date-time (RFC 3339, without leap seconds and the year 0), uuid, email (dot-atom),
// hostname (at most 3 labels, or 12 of at most 20 letters), ipv4, ipv6, uri (RFC 3986). nullopt:
// not enforced.
std::optional<std::string> format_pattern(std::string_view format);

}  // namespace smol::grammar
