// Values for templates: everything that is not the template's counts as input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jinja/value.h"

namespace smol::page {

inline jinja::Value text_value(std::string_view text) {
  return jinja::Value::string(std::string(text), jinja::Origin::Input);
}

inline jinja::Value count_value(std::size_t count) {
  return jinja::Value::integer(static_cast<std::int64_t>(count));
}

// Ids are texts for the page.
inline std::string id_text(std::int64_t id) {
  return std::to_string(id);
}

inline jinja::Value id_value(std::optional<std::int64_t> id) {
  return id ? text_value(id_text(*id)) : jinja::Value::none();
}

}  // namespace smol::page
