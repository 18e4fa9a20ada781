#include "page/form.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

namespace smol::page {
namespace {

constexpr std::size_t kMostFields = 10'000;

[[noreturn]] void refuse(std::string_view expected, std::string_view found) {
  throw Error{ErrorCode::BadInput,
              "form: expected " + std::string(expected) + ", found " + std::string(found)};
}

std::string decoded(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  auto out = server::percent_decoded(spaced);
  if (!out) {
    refuse("UTF-8 and whole escapes", "others");
  }
  return std::move(*out);
}

// What stands between two marks; nothing if they do not.
std::optional<std::string_view> between(std::string_view text, std::string_view before,
                                        std::string_view behind) {
  const std::size_t begin = text.find(before);
  if (begin == std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(begin + before.size());
  const std::size_t end = text.find(behind);
  return end == std::string_view::npos ? std::nullopt : std::optional(text.substr(0, end));
}

}  // namespace

Form::Form(const server::HttpRequest& request) {
  read_pairs(request.query);
  if (request.body.empty()) {
    return;  // some clients name a type with every request
  }
  const std::string_view type = request.headers.find("Content-Type").value_or("");
  constexpr std::string_view kMultipart = "multipart/form-data";
  if (type.starts_with(kMultipart)) {
    std::string_view boundary = type.substr(std::min(type.find("boundary="), type.size()));
    boundary.remove_prefix(std::min(boundary.size(), std::string_view("boundary=").size()));
    if (boundary.starts_with('"')) {
      boundary = between(boundary, "\"", "\"").value_or("");
    }
    read_parts(request.body, boundary.substr(0, boundary.find(';')));
  } else if (type.starts_with("application/json")) {
    read_json(request.body);
  } else {
    read_pairs(request.body);
  }
}

void Form::refuse_more_fields() const {
  if (fields_.size() + files_.size() >= kMostFields) {
    refuse("at most " + std::to_string(kMostFields) + " fields", "more");
  }
}

void Form::add(std::string name, std::string value) {
  refuse_more_fields();
  fields_.emplace_back(std::move(name), std::move(value));
}

void Form::read_pairs(std::string_view text) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (!pair.empty()) {
      add(decoded(pair.substr(0, equals)), decoded(pair.substr(std::min(pair.size(), equals + 1))));
    }
  }
}

void Form::read_parts(std::string_view body, std::string_view boundary) {
  if (boundary.empty()) {
    refuse("a boundary between its parts", "none");
  }
  const std::string mark = "--" + std::string(boundary);
  std::size_t at = body.find(mark);
  while (at != std::string_view::npos) {
    const std::size_t begin = at + mark.size();
    at = body.find("\r\n" + mark, begin);
    if (at == std::string_view::npos || body.substr(begin, 2) == "--") {
      return;
    }
    const std::string_view part = body.substr(begin, at - begin);
    at += 2;
    const std::size_t head = part.find("\r\n\r\n");
    const std::string_view about = part.substr(0, head);
    const auto name = between(about, " name=\"", "\"");
    if (head == std::string_view::npos || !name) {
      refuse("parts with names", "one without");
    }
    const std::string_view value = part.substr(head + 4);
    if (about.find(" filename=") == std::string_view::npos) {
      add(std::string(*name), std::string(value));
    } else {
      refuse_more_fields();
      files_.emplace_back(*name, value);  // large, and perhaps an archive: neither copied nor read
    }
  }
}

void Form::read_json(std::string_view body) {
  const Json fields = parse_json(body, "body", {.values = kMostFields});
  if (!fields.is_object()) {
    refuse("a JSON object", "another value");
  }
  for (const auto& [name, value] : fields.items()) {
    if (!value.is_null()) {
      add(name, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
}

const std::string* Form::find(std::string_view name) const {
  const auto found = std::find_if(fields_.rbegin(), fields_.rend(),
                                  [&](const auto& field) { return field.first == name; });
  return found == fields_.rend() ? nullptr : &found->second;
}

const std::string& Form::text(std::string_view name) const {
  static const std::string kNone;
  const std::string* found = find(name);
  return found == nullptr ? kNone : *found;
}

std::vector<std::string> Form::all(std::string_view name) const {
  std::vector<std::string> out;
  for (const auto& [field, value] : fields_) {
    if (field == name) {
      out.push_back(value);
    }
  }
  return out;
}

std::optional<std::string_view> Form::file(std::string_view name) const {
  for (const auto& [field, content] : files_) {
    if (field == name) {
      return content;
    }
  }
  const std::string* field = find(name);
  return field == nullptr ? std::nullopt : std::optional<std::string_view>(*field);
}

bool Form::flag(std::string_view name) const {
  const std::string& value = text(name);
  const auto is_one_of = [&](const auto& words) {
    return std::ranges::find(words, value) != words.end();
  };
  constexpr std::array<std::string_view, 3> kYes{"true", "on", "1"};
  constexpr std::array<std::string_view, 4> kNo{"false", "off", "0", ""};
  if (!is_one_of(kYes) && !is_one_of(kNo)) {
    throw Error{ErrorCode::BadInput,
                std::string(name) + ": expected on or off, found another text"};
  }
  return is_one_of(kYes);
}

std::int64_t Form::id(std::string_view name) const {
  const std::string& value = text(name);
  std::int64_t id = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), id);
  if (read.ec != std::errc{} || read.ptr != value.data() + value.size() || id <= 0) {
    throw Error{ErrorCode::NotFound, std::string(name) + ": expected an id, found another text"};
  }
  return id;
}

std::optional<double> Form::number(std::string_view name) const {
  const std::string& value = text(name);
  if (value.empty()) {
    return std::nullopt;
  }
  double number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  if (read.ec != std::errc{} || read.ptr != value.data() + value.size() || !std::isfinite(number)) {
    throw Error{ErrorCode::BadInput, std::string(name) + ": expected a number, found another text"};
  }
  return number;
}

std::string cookie_of(const server::HttpRequest& request, std::string_view name) {
  std::string_view rest = request.headers.find("Cookie").value_or("");
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(' ')));
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=') {
      return std::string(pair.substr(name.size() + 1));
    }
  }
  return "";
}

}  // namespace smol::page
