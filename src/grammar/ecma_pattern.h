// Regular expressions of ECMA-262 (with flag u), as JSON Schema's `pattern` means them.
#pragma once

#include <string_view>

#include "grammar/regex.h"

namespace smol::grammar {

// The texts in which `pattern` matches somewhere: anchored only where it says so. Lookahead is
// supported outside of repetitions. Throws Error{BadInput} for an invalid pattern and
// Error{Unsupported} naming what is not supported (back references, \b, lookbehind), each with the
// place in the pattern.
Regex parse_pattern(RegexPool& pool, std::string_view pattern);

}  // namespace smol::grammar
