// Jinja templates, run exactly as Jinja2 runs them under transformers' settings (immutable sandbox,
// trim_blocks, lstrip_blocks). Sandboxed: steps, depth, output and memory are bounded; no file,
// import or attribute access.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "jinja/error.h"
#include "jinja/marked_string.h"
#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

struct Rendered {
  MarkedString text;  // each range knows whether the template or the input wrote it
  std::vector<Range> generation_spans;  // bytes of {% generation %} blocks, in the order they ended
};

struct ParseOptions {
  // For web pages: what {{ }} prints is escaped unless it is markup, and tojson is safe within
  // <script>.
  bool autoescape = false;
};

struct TemplateTree;

// Parsed once, rendered often; immutable: any thread.
class Template {
 public:
  // Throws TemplateError of phase Parse (an Error{BadInput} with line, column and a caret).
  static Template parse(std::string_view source, const ParseOptions& options = {});
  // Throws TemplateError of phase Render; `raised_by_template` is set where raise_exception() was
  // called.
  Rendered render(const Dict& variables, const RenderOptions& options = {}) const;

 private:
  explicit Template(std::shared_ptr<const TemplateTree> tree);

  std::shared_ptr<const TemplateTree> tree_;
};

}  // namespace smol::jinja
