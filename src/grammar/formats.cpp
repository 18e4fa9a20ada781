#include "grammar/formats.h"

namespace smol::grammar {
namespace {

std::string date() {
  const std::string leap =
      R"((?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00))";
  return "(?!0000)(?:" + leap +
         R"(-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))))";
}

std::string time() {
  return R"((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d))";
}

std::string label(int length) {
  return "[A-Za-z0-9](?:[A-Za-z0-9-]{0," + std::to_string(length - 2) + "}[A-Za-z0-9])?";
}

std::string hostname() {
  return "(?:" + label(63) + "(?:\\." + label(63) + "){0,2}|" + label(20) + "(?:\\." + label(20) +
         "){0,11})";
}

std::string email() {
  const std::string atom = R"([A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)";
  return atom + "(?:\\." + atom + ")*@" + hostname();
}

std::string ipv4() {
  const std::string byte = R"((?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d))";
  return byte + "(?:\\." + byte + "){3}";
}

// RFC 4291: eight groups, of which :: stands for at least one.
std::string ipv6() {
  const std::string group = "[0-9A-Fa-f]{1,4}";
  const std::string last = "(?:" + group + ":" + group + "|" + ipv4() + ")";
  std::string all = "(?:" + group + ":){6}" + last;
  const auto before = [&](int most) {
    return most == 0 ? std::string()
                     : "(?:(?:" + group + ":){0," + std::to_string(most - 1) + "}" + group + ")?";
  };
  for (int behind = 5; behind >= 0; --behind) {
    all.append("|").append(before(5 - behind)).append("::");
    all.append("(?:[0-9A-Fa-f]{1,4}:){").append(std::to_string(behind)).append("}").append(last);
  }
  return "(?:" + all + "|" + before(6) + "::" + group + "|" + before(7) + "::)";
}

std::string uri() {
  const std::string escaped = "%[0-9A-Fa-f]{2}";
  const std::string pchar = "(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|" + escaped + ")";
  const std::string user = "(?:[A-Za-z0-9._~!$&'()*+,;=:-]|" + escaped + ")*";
  const std::string name = "(?:[A-Za-z0-9._~!$&'()*+,;=-]|" + escaped + ")*";
  const std::string authority = "(?:" + user + "@)?(?:\\[" + ipv6() + "\\]|" + name + ")(?::\\d*)?";
  const std::string path = "(?:/" + pchar + "*)*";
  const std::string rootless = pchar + "+" + path;
  const std::string tail = "(?:" + pchar + "|[/?])*";
  return "[A-Za-z][A-Za-z0-9+.-]*:(?://" + authority + path + "|/(?:" + rootless +
         ")?|(?:" + rootless + ")?)(?:\\?" + tail + ")?(?:#" + tail + ")?";
}

}  // namespace

std::optional<std::string> format_pattern(std::string_view format) {
  const auto whole = [](const std::string& pattern) { return "^(?:" + pattern + ")$"; };
  if (format == "date") {
    return "^" + date() + "$";
  }
  if (format == "time") {
    return whole(time());
  }
  if (format == "date-time") {
    return "^" + date() + "[Tt]" + time() + "$";
  }
  if (format == "uuid") {
    return "^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$";
  }
  if (format == "email") {
    return whole(email());
  }
  if (format == "hostname") {
    return whole(hostname());
  }
  if (format == "ipv4") {
    return whole(ipv4());
  }
  if (format == "ipv6") {
    return whole(ipv6());
  }
  if (format == "uri") {
    return whole(uri());
  }
  return std::nullopt;
}

}  // namespace smol::grammar
