// markupsafe: strings that may stand in HTML as they are, and everything else escaped.
#pragma once

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

// markup: unchanged; anything else: str(value) with & < > ' " replaced. Always markup.
Value escape(Runtime& runtime, const Value& value);
MarkedString escape_text(Runtime& runtime, const MarkedString& text);
// Markup(value): str(value), claimed to be safe.
Value as_markup(Runtime& runtime, const Value& value);
// The same text, no longer markup.
Value as_plain(const Value& string);
// Entities replaced by their characters (html.unescape for the common names and all numbers).
MarkedString unescape(Runtime& runtime, const MarkedString& text);

}  // namespace smol::jinja
