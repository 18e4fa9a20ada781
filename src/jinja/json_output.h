// json.dumps() of Python.
#pragma once

#include <optional>

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

struct JsonStyle {
  bool ensure_ascii = false;
  std::optional<MarkedString> indent;  // of one level
  MarkedString item_separator{", ", Origin::Template};
  MarkedString key_separator{": ", Origin::Template};
  bool sort_keys = false;
};

// Throws Fault{Type} for what JSON cannot hold.
MarkedString to_json(Runtime& runtime, const Value& value, const JsonStyle& style);

}  // namespace smol::jinja
