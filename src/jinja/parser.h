// Tokens -> syntax tree, by Jinja2's grammar (with the loop controls and {% generation %} of
// transformers).
#pragma once

#include <string_view>

#include "jinja/ast.h"

namespace smol::jinja {

// Throws SyntaxError (lexer.h). `normalized` as normalize_source() makes it.
Body parse_template(std::string_view normalized);

}  // namespace smol::jinja
