#include "jinja/template.h"

#include <algorithm>
#include <utility>

#include "jinja/ast.h"
#include "jinja/fault.h"
#include "jinja/interpreter.h"
#include "jinja/lexer.h"
#include "jinja/parser.h"
#include "jinja/resolver.h"

namespace smol::jinja {

Template::Template(std::shared_ptr<const TemplateTree> tree) : tree_(std::move(tree)) {}

Template Template::parse(std::string_view source, const ParseOptions& options) {
  auto tree = std::make_shared<TemplateTree>();
  tree->source = normalize_source(source);
  tree->autoescape = options.autoescape;
  try {
    tree->body = Parser(tree->source).parse();
    Resolver(*tree).run();
  } catch (const SyntaxError& error) {
    throw TemplateError(TemplateError::Phase::Parse, error.message,
                        TemplateError::locate(tree->source, error.offset), false);
  }
  return Template(std::move(tree));
}

Rendered Template::render(const Dict& variables, const RenderOptions& options) const {
  Runtime runtime(options, tree_->autoescape);
  try {
    Interpreter interpreter(*tree_, variables, runtime);
    interpreter.run();
    Rendered rendered{interpreter.take_output(), interpreter.take_generation_spans()};
    // A block within captured text may have measured past the end.
    for (Range& span : rendered.generation_spans) {
      span.end = std::min(span.end, rendered.text.size());
      span.begin = std::min(span.begin, span.end);
    }
    return rendered;
  } catch (const Fault& fault) {
    throw TemplateError(TemplateError::Phase::Render, fault.what(),
                        TemplateError::locate(tree_->source, runtime.position()),
                        fault.kind() == FaultKind::Raised);
  }
}

}  // namespace smol::jinja
