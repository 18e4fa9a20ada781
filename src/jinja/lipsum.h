// Filler text.
#pragma once

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

// lipsum(n=5, html=True, min=20, max=100): n paragraphs of that many words.
Value lipsum(Runtime& runtime, const CallArgs& args);

}  // namespace smol::jinja
