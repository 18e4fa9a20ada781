// Jinja2's filters by name.
#pragma once

#include <string_view>

#include "jinja/ast.h"

namespace smol::jinja {

// Null if there is no such filter.
FilterFunction find_filter(std::string_view name) noexcept;

}  // namespace smol::jinja
