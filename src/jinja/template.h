// Jinja templates, run exactly as Jinja2 runs them under transformers' settings (immutable sandbox, trim_blocks,
// lstrip_blocks). Sandboxed: steps, depth, output and memory are bounded; no file, import or attribute access.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/marked_string.h"
#include "jinja/value.h"

namespace smol::jinja {

struct Rendered {
  MarkedString text;                   // each range knows whether the template or the input wrote it
  std::vector<Range> generation_spans; // bytes inside {% generation %}
};

// `now()` for strftime_now; bounds of the sandbox.
struct RenderOptions;

// Parsed once, rendered often; immutable: any thread.
class Template {
 public:
  // Throws TemplateError (an Error{BadInput} with line, column and a caret).
  static Template parse(std::string_view source);
  // Throws TemplateError; `raised_by_template` is set where raise_exception() was called.
  Rendered render(const Dict& variables, const RenderOptions& options) const;
};

}  // namespace smol::jinja
