// Macros, callers and blocks as values.
#pragma once

#include "jinja/interpreter.h"
#include "jinja/value.h"

namespace smol::jinja {

// `closure`: the activation that the macro was defined in.
Value make_macro(Interpreter& interpreter, const MacroBody& macro, Activation& closure);
// `self`: blocks by name.
Value make_template_reference(Interpreter& interpreter);

}  // namespace smol::jinja
