#include "app/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/utf8.h"

namespace smol::app {

namespace {

// The whole text as one number, or nothing.
template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) {
    return std::nullopt;
  }
  return value;
}

template <class T>
T in_bounds(std::string_view what, std::string_view text, std::string_view kind,
            const Bounds<T>& bounds) {
  const std::optional<T> value = number_of<T>(text);
  if (value && *value >= bounds.least && *value <= bounds.most) {
    return *value;
  }
  throw Error{ErrorCode::BadInput, fmt::format("{}: expected {} from {} to {}, found {}", what,
                                               kind, bounds.least, bounds.most, in_quotes(text))};
}

}  // namespace

double parse_number(std::string_view what, std::string_view text, Bounds<double> bounds) {
  return in_bounds(what, text, "a number", bounds);
}

std::uint64_t parse_count(std::string_view what, std::string_view text,
                          Bounds<std::uint64_t> bounds) {
  return in_bounds(what, text, "a whole number", bounds);
}

std::int64_t parse_integer(std::string_view what, std::string_view text,
                           Bounds<std::int64_t> bounds) {
  return in_bounds(what, text, "a whole number", bounds);
}

std::vector<std::string> comma_parts(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    std::string_view part = text.substr(begin, comma - begin);
    part.remove_prefix(std::min(part.find_first_not_of(kSpaces), part.size()));
    part = part.substr(0, part.find_last_not_of(kSpaces) + 1);
    parts.emplace_back(part);
    begin = comma + 1;
  }
  return parts;
}

std::vector<std::size_t> parse_counts(std::string_view what, std::string_view text,
                                      Bounds<std::uint64_t> bounds) {
  std::vector<std::size_t> counts;
  for (const std::string& part : comma_parts(text)) {
    counts.push_back(static_cast<std::size_t>(parse_count(what, part, bounds)));
  }
  return counts;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr double kMega = 1e6;
  if (bytes < 1000) {
    return fmt::format("{} bytes", bytes);
  }
  const double mega = static_cast<double>(bytes) / kMega;
  if (mega >= 1000.0) {
    return fmt::format("{:.2f} GB", mega / 1000.0);
  }
  return mega >= 100.0 ? fmt::format("{:.0f} MB", mega) : fmt::format("{:.1f} MB", mega);
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMostShown = 80;
  std::string out = "\"";
  std::string_view rest = text;
  while (!rest.empty() && out.size() < kMostShown) {
    const utf8::Step step = utf8::next(rest);
    if (step.code_point < U' ' || step.code_point == U'\x7f' ||
        (step.code_point >= U'\x80' && step.code_point < U'\xa0')) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(step.code_point));
    } else {
      utf8::append(out, step.code_point);
    }
    rest.remove_prefix(step.length);
  }
  return out + (rest.empty() ? "\"" : "...\"");
}

}  // namespace smol::app
