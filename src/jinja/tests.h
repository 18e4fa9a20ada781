// Jinja2's tests (`x is NAME`) by name.
#pragma once

#include <string_view>

#include "jinja/ast.h"

namespace smol::jinja {

// Null if there is no such test.
TestFunction find_test(std::string_view name) noexcept;

}  // namespace smol::jinja
