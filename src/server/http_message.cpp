#include "server/http_message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/utf8.h"

namespace smol::server {
namespace {

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

void Headers::add(std::string_view name, std::string_view value) {
  fields_.push_back({std::string(name), std::string(value)});
}

std::optional<std::string_view> Headers::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find_if(
      fields_, [&](const HeaderField& field) { return same_name(field.name, name); });
  return found == fields_.end() ? std::nullopt : std::optional<std::string_view>(found->value);
}

std::size_t Headers::count(std::string_view name) const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      fields_, [&](const HeaderField& field) { return same_name(field.name, name); }));
}

std::string_view reason_of(int status) noexcept {
  constexpr std::array<std::pair<int, std::string_view>, 22> kReasons{{
      {200, "OK"},
      {204, "No Content"},
      {303, "See Other"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {411, "Length Required"},
      {413, "Content Too Large"},
      {415, "Unsupported Media Type"},
      {417, "Expectation Failed"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {503, "Service Unavailable"},
      {505, "HTTP Version Not Supported"},
      {304, "Not Modified"},
      {206, "Partial Content"},
  }};
  const auto* found = std::ranges::find(kReasons, status, [](const auto& e) { return e.first; });
  return found == kReasons.end() ? "Unknown" : found->second;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (text.front() != '%') {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    unsigned value = 0;
    const char* begin = text.data() + 1;
    if (text.size() < 3 || std::from_chars(begin, begin + 2, value, 16).ptr != begin + 2) {
      return std::nullopt;
    }
    out += static_cast<char>(value);
    text.remove_prefix(3);
  }
  if (out.find('\0') != std::string::npos || !utf8::is_valid(out)) {
    return std::nullopt;
  }
  return out;
}

std::string head_text(const HttpResponse& response) {
  std::string out = "HTTP/1.1 " + std::to_string(response.status) + " " +
                    std::string(reason_of(response.status)) + "\r\n";
  for (const HeaderField& field : response.headers) {
    out += field.name + ": " + field.value + "\r\n";
  }
  return out + "\r\n";
}

}  // namespace smol::server
