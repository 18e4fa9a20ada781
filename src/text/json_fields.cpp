#include "text/json_fields.h"

#include <utility>

#include "base/error.h"
#include "base/json.h"

namespace smol::text {

JsonFields::JsonFields(const Json& value, std::string name)
    : value_(value), name_(std::move(name)) {
  if (!value.is_object()) {
    throw Error(ErrorCode::BadInput, name_ + ": expected an object, found " + value.type_name());
  }
}

const Json* JsonFields::find(std::string_view key) const {
  const auto found = value_.find(std::string(key));
  return found == value_.end() || found->is_null() ? nullptr : &*found;
}

bool JsonFields::boolean(std::string_view key, bool if_absent) const {
  const Json* value = find(key);
  if (value == nullptr) {
    return if_absent;
  }
  if (!value->is_boolean()) {
    fail(key, "a boolean");
  }
  return value->get<bool>();
}

std::optional<std::string> JsonFields::string(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_string()) {
    fail(key, "a string");
  }
  return value->get<std::string>();
}

std::string JsonFields::required_string(std::string_view key) const {
  auto value = string(key);
  if (!value) {
    fail(key, "a string");
  }
  return *std::move(value);
}

std::uint64_t JsonFields::required_unsigned(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr || !value->is_number_unsigned()) {
    fail(key, "a number from 0");
  }
  return value->get<std::uint64_t>();
}

void JsonFields::fail(std::string_view key, const std::string& expected) const {
  const auto found = value_.find(std::string(key));
  throw Error(ErrorCode::BadInput,
              name_of(key) + ": expected " + expected + ", found " +
                  (found == value_.end() ? "nothing" : std::string(found->type_name())));
}

}  // namespace smol::text
