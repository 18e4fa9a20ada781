// Gives every name its variable and checks what Jinja2 checks when it compiles a template.
#pragma once

#include "jinja/ast.h"

namespace smol::jinja {

// Throws SyntaxError (lexer.h): an unknown filter, a block defined twice, an assignment to `loop`
// ...
void resolve(TemplateTree& tree);

}  // namespace smol::jinja
