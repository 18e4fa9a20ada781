// Gives every name its variable and checks what Jinja2 checks when it compiles a template.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/ast.h"
#include "jinja/symbols.h"

namespace smol::jinja {

class Resolver {
 public:
  // `tree` outlives the resolver.
  explicit Resolver(TemplateTree& tree);

  // Throws SyntaxError (lexer.h): an unknown filter, a block defined twice, an assignment to
  // `loop` ...
  void run();

 private:
  // Where code stands while it is compiled.
  struct Frame {
    Symbols& symbols;
    FunctionScope& function;
    bool toplevel = false;   // the root, also within its ifs
    bool rootlevel = false;  // the root, not within an if
    bool soft = false;       // unknown filters are an error only when reached
    bool in_loop = false;    // break and continue have a loop

    Frame softened() const;
  };

  [[noreturn]] static void fail(const std::string& message, std::size_t offset);
  void late_error(std::string message, std::size_t offset);

  // ---- statements ----
  void collect_blocks();
  void resolve_block(Block& block);
  void resolve_body(Body& body, const Frame& frame);
  void resolve_statement(Statement& statement, const Frame& frame);
  void check_loop(std::string_view tag, std::size_t offset, const Frame& frame);
  void resolve_loader_tag(LoaderTag& node, std::size_t offset, const Frame& frame);
  void resolve_if(If& node, const Frame& frame);

  // ---- scopes ----
  void resolve_filter_block(FilterBlock& node, const Frame& frame);
  void resolve_assign_block(AssignBlock& node, const Frame& frame);
  void resolve_with(With& node, const Frame& frame);
  void resolve_autoescape(Autoescape& node, const Frame& frame);
  void resolve_for(For& node, Statement& statement, const Frame& frame);
  // The test runs in a function of its own, over its own copy of the target.
  void resolve_test(For& node, const Frame& frame);
  void resolve_macro(MacroBody& macro, std::size_t offset, const Frame& frame);
  static void declare_special(MacroBody& macro, Symbols& symbols, std::size_t offset);

  // ---- expressions ----
  void resolve_all(std::vector<ExprPtr>& items, const Frame& frame);
  void resolve_expr(Expr& expr, const Frame& frame);
  // `output`: one part of it.
  static void fold_slices(Expr& output);
  std::size_t line_of(std::size_t offset) const;
  void check_arguments(const Arguments& args, std::size_t offset);
  void check_key(Expr& key);
  static void check_known(bool known, const std::string& kind, const std::string& name,
                          std::size_t offset, const Frame& frame);

  TemplateTree& tree_;
  Escaping escaping_;
  std::vector<Block*> blocks_;
  std::vector<std::size_t> newlines_;  // offsets
};

}  // namespace smol::jinja
