#include "store/fields.h"

#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace smol::store {
namespace {

constexpr int kMostNesting = 256;

[[noreturn]] void too_much(std::string_view what, std::size_t most, std::string_view of) {
  throw Error(ErrorCode::BadInput, std::string(what) + ": expected at most " +
                                       std::to_string(most) + " " + std::string(of) +
                                       ", found more");
}

}  // namespace

Json parse_bounded(std::string_view text, std::string_view what, const ImportLimits& limits,
                   std::size_t& values) {
  if (text.size() > limits.text_bytes) {
    too_much(what, limits.text_bytes, "bytes");
  }
  std::vector<std::size_t> keys;  // of each open object
  const auto count = [&](int depth, Json::parse_event_t event, Json&) {
    if (depth > kMostNesting) {
      too_much(what, kMostNesting, "levels of nesting");
    }
    if (event == Json::parse_event_t::object_start) {
      keys.push_back(0);
    } else if (event == Json::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == Json::parse_event_t::key && ++keys.back() > limits.keys) {
      too_much(what, limits.keys, "keys in one object");
    }
    if (++values > limits.values) {
      too_much(what, limits.values, "values");
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), count);
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::BadInput, std::string(what) + ": " + json_error_text(error));
  }
}

bool Field::is_object() const noexcept {
  return value_->is_object();
}

bool Field::is_list() const noexcept {
  return value_->is_array();
}

bool Field::is_text() const noexcept {
  return value_->is_string();
}

std::string Field::path_of(std::string_view key) const {
  return path_ + (path_.empty() ? "" : ".") + std::string(key);
}

void Field::refuse(std::string_view expected, std::string_view found) const {
  throw Error(ErrorCode::BadInput, (path_.empty() ? "file" : path_) + ": expected " +
                                       std::string(expected) + ", found " + std::string(found));
}

void Field::refuse(std::string_view expected) const {
  refuse(expected, value_->type_name());
}

std::optional<Field> Field::find(const char* key) const {
  if (!value_->is_object()) {
    refuse("an object");
  }
  const auto found = value_->find(key);
  if (found == value_->end() || found->is_null()) {
    return std::nullopt;
  }
  return Field(*found, path_of(key));
}

Field Field::at(const char* key) const {
  auto found = find(key);
  if (!found) {
    throw Error(ErrorCode::BadInput, path_of(key) + ": expected a value, found none");
  }
  return *std::move(found);
}

void Field::each(const std::function<void(const Field&)>& visit) const {
  if (!value_->is_array()) {
    refuse("a list");
  }
  for (std::size_t i = 0; i < value_->size(); ++i) {
    visit(Field((*value_)[i], path_ + "[" + std::to_string(i) + "]"));
  }
}

void Field::each_member(const std::function<void(const std::string&, const Field&)>& visit) const {
  if (!value_->is_object()) {
    refuse("an object");
  }
  for (const auto& [key, value] : value_->items()) {
    visit(key, Field(value, path_of(key)));
  }
}

std::string Field::text() const {
  if (!value_->is_string()) {
    refuse("a string");
  }
  return value_->get<std::string>();
}

bool Field::flag() const {
  if (!value_->is_boolean()) {
    refuse("true or false");
  }
  return value_->get<bool>();
}

double Field::real(double least, double most) const {
  const double value = value_->is_number() ? value_->get<double>() : NAN;
  if (!(value >= least && value <= most)) {
    refuse("a number from " + Json(least).dump() + " to " + Json(most).dump(),
           value_->is_number() ? value_->dump() : value_->type_name());
  }
  return value;
}

std::int64_t Field::whole() const {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53U;  // what JavaScript counts exactly
  if (!value_->is_number_unsigned() || value_->get<std::uint64_t>() > kMost) {
    refuse("a whole number from 0 to " + std::to_string(kMost),
           value_->is_number() ? value_->dump() : value_->type_name());
  }
  return value_->get<std::int64_t>();
}

std::size_t Field::index(std::size_t count) const {
  const std::int64_t value = whole();
  if (static_cast<std::uint64_t>(value) >= count) {
    refuse("the index of one of " + std::to_string(count) + " messages before it",
           std::to_string(value));
  }
  return static_cast<std::size_t>(value);
}

std::string Field::text(const char* key, std::string_view absent) const {
  const auto found = find(key);
  return found ? found->text() : std::string(absent);
}

bool Field::flag(const char* key, bool absent) const {
  const auto found = find(key);
  return found ? found->flag() : absent;
}

std::int64_t Field::whole(const char* key, std::int64_t absent) const {
  const auto found = find(key);
  return found ? found->whole() : absent;
}

std::int64_t Field::figure(const char* key) const {
  constexpr double kMost = 1e12;
  const auto found = find(key);
  const double value = found && found->value_->is_number() ? found->value_->get<double>() : 0.0;
  return value > 0 && value < kMost ? std::llround(value) : 0;
}

void MessageCount::add(const Field& message) {
  if (++count_ > most_) {
    message.refuse("at most " + std::to_string(most_) + " messages", "more");
  }
}

}  // namespace smol::store
