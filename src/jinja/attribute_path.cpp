#include "jinja/attribute_path.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "jinja/attributes.h"
#include "jinja/string_case.h"

namespace smol::jinja {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

}  // namespace

AttributePath::AttributePath(const Value& attribute, Value fallback)
    : fallback_(std::move(fallback)) {
  if (attribute.is_none() || attribute.is_missing()) {
    return;
  }
  if (!attribute.is_string()) {
    parts_.push_back(attribute);
    return;
  }
  for (const std::string_view part : split(attribute.bytes(), '.')) {
    const bool number =
        !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    parts_.push_back(number ? Value::integer(BigInt::from_digits(part, 10))
                            : Value::string(std::string(part), Origin::Template));
  }
}

Value AttributePath::get(Runtime& runtime, const Value& item) const {
  Value value = item;
  for (const Value& part : parts_) {
    value = get_item(runtime, value, part);
    if (value.is_undefined() && !fallback_.is_missing() && !fallback_.is_none()) {
      value = fallback_;
    }
  }
  return value;
}

SortKey::SortKey(const Value& attributes, bool case_sensitive) : case_sensitive_(case_sensitive) {
  if (!attributes.is_string()) {
    paths_.emplace_back(attributes);
    return;
  }
  for (const std::string_view part : split(attributes.bytes(), ',')) {
    paths_.emplace_back(Value::string(std::string(part), Origin::Template));
  }
}

Value SortKey::get(Runtime& runtime, const Value& item) const {
  List keys;
  for (const AttributePath& path : paths_) {
    Value key = path.get(runtime, item);
    keys.push_back(case_sensitive_ ? std::move(key) : ignore_case(runtime, key));
  }
  return runtime.list(std::move(keys));
}

Value ignore_case(Runtime& runtime, const Value& value) {
  return value.is_string() ? runtime.text(lower_text(runtime, value.text())) : value;
}

}  // namespace smol::jinja
