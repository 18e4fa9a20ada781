// Names of HTML entities.
#pragma once

#include <string_view>

namespace smol::jinja {

// The character that &name; stands for, 0 if the name is not known.
char32_t html_entity(std::string_view name) noexcept;

}  // namespace smol::jinja
