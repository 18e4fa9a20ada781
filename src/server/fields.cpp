#include "server/fields.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/json.h"

namespace smol::server {
namespace {

constexpr double kLargestExact = 9007199254740992.0;  // 2^53: whole doubles up to it are exact

std::string number_text(double value) {
  return Json(value).dump();
}

std::string quoted_list(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view word : words) {
    out += (out.empty() ? "" : ", ") + std::string(word);
  }
  return out;
}

}  // namespace

std::string found_text(const Json& value) {
  constexpr std::size_t kMostShown = 80;
  if (value.is_structured()) {
    return value.is_object() ? "an object" : "a list";
  }
  std::string text;
  if (value.is_string() && value.get_ref<const std::string&>().size() > kMostShown) {
    text = Json(value.get_ref<const std::string&>().substr(0, kMostShown))
               .dump(-1, ' ', false, Json::error_handler_t::ignore);
    text.insert(text.size() - 1, " ...");
    return text;
  }
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string joined_path(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : std::string(path) + "." + std::string(name);
}

std::string joined_path(std::string_view path, std::size_t index) {
  return std::string(path) + "[" + std::to_string(index) + "]";
}

void refuse(std::string_view path, std::string_view expected, const Json& found) {
  const std::string name(path.empty() ? "the body" : path);
  throw Error{ErrorCode::BadInput,
              name + ": expected " + std::string(expected) + ", found " + found_text(found)};
}

std::optional<std::uint64_t> whole_number(const Json& value, Range<std::uint64_t> range) {
  std::optional<std::uint64_t> number;
  if (value.is_number_unsigned()) {
    number = value.get<std::uint64_t>();
  } else if (value.is_number_float()) {
    const auto real = value.get<double>();
    if (real >= 0 && real <= kLargestExact && std::floor(real) == real) {
      number = static_cast<std::uint64_t>(real);
    }
  }
  return number && *number >= range.least && *number <= range.most ? number : std::nullopt;
}

Fields::Fields(const Json& value, std::string path) : value_(value), path_(std::move(path)) {
  if (!value_.is_object()) {
    refuse(path_, "an object", value_);
  }
}

const Json* Fields::find(std::string_view name) const {
  const auto found = value_.find(std::string(name));
  return found == value_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<bool> Fields::boolean(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_boolean()) {
    refuse(path_of(name), "true or false", *value);
  }
  return value->get<bool>();
}

std::optional<double> Fields::number(std::string_view name, Range<double> range) const {
  const Json* value = find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  const double number = value->is_number() ? value->get<double>() : std::nan("");
  if (!(number >= range.least && number <= range.most)) {
    refuse(path_of(name),
           "a number from " + number_text(range.least) + " to " + number_text(range.most), *value);
  }
  return number;
}

std::optional<std::uint64_t> Fields::count(std::string_view name,
                                           Range<std::uint64_t> range) const {
  const Json* value = find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  const auto number = whole_number(*value, range);
  if (!number) {
    refuse(
        path_of(name),
        "a whole number from " + std::to_string(range.least) + " to " + std::to_string(range.most),
        *value);
  }
  return number;
}

std::optional<std::int64_t> Fields::integer(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  if (const auto number = whole_number(*value, {0, kLargest})) {
    return static_cast<std::int64_t>(*number);
  }
  if (!value->is_number_integer() || value->is_number_unsigned()) {
    refuse(path_of(name), "a whole number of 64 bits", *value);
  }
  return value->get<std::int64_t>();
}

std::optional<std::string> Fields::text(std::string_view name, std::size_t most_bytes) const {
  const Json* value = find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_string()) {
    refuse(path_of(name), "a string", *value);
  }
  const auto& text = value->get_ref<const std::string&>();
  if (text.size() > most_bytes) {
    refuse(path_of(name), "a string of at most " + std::to_string(most_bytes) + " bytes", *value);
  }
  return text;
}

std::optional<std::size_t> Fields::choice(std::string_view name,
                                          const std::vector<std::string_view>& choices) const {
  const Json* value = find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  const auto found =
      value->is_string()
          ? std::ranges::find(choices, std::string_view(value->get_ref<const std::string&>()))
          : choices.end();
  if (found == choices.end()) {
    refuse(path_of(name), "one of " + quoted_list(choices), *value);
  }
  return static_cast<std::size_t>(found - choices.begin());
}

const Json* Fields::object(std::string_view name) const {
  const Json* value = find(name);
  if (value != nullptr && !value->is_object()) {
    refuse(path_of(name), "an object", *value);
  }
  return value;
}

const Json* Fields::list(std::string_view name, std::size_t most) const {
  const Json* value = find(name);
  if (value == nullptr) {
    return nullptr;
  }
  if (!value->is_array()) {
    refuse(path_of(name), "a list", *value);
  }
  if (value->size() > most) {
    throw Error{ErrorCode::BadInput, path_of(name) + ": expected at most " + std::to_string(most) +
                                         " entries, found " + std::to_string(value->size())};
  }
  return value;
}

void Fields::miss(std::string_view name, std::string_view expected) const {
  throw Error{ErrorCode::BadInput,
              path_of(name) + ": expected " + std::string(expected) + ", found none"};
}

}  // namespace smol::server
