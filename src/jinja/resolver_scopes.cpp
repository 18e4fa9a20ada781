// The statements that open a scope.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "jinja/ast_walk.h"
#include "jinja/lexer.h"
#include "jinja/resolver.h"

namespace smol::jinja {
namespace {

ExprPtr copy_target(const Expr& target) {
  auto copy = std::make_unique<Expr>(Expr{target.offset, target.depth, Const{}});
  if (const auto* const name = target.as<Name>()) {
    copy->node = Name{name->name, name->use, {}};
  } else if (const auto* const tuple = target.as<TupleExpr>()) {
    TupleExpr items;
    for (const ExprPtr& item : tuple->items) {
      items.items.push_back(copy_target(*item));
    }
    copy->node = std::move(items);
  }
  return copy;
}

void check_no_loop_target(Expr& expr) {
  if (const auto* const name = expr.as<Name>();
      name != nullptr && name->use == NameUse::Store && name->name == "loop") {
    throw SyntaxError{"Can't assign to special loop variable in for-loop target", expr.offset};
  }
  walk_children(expr, check_no_loop_target);
}

}  // namespace

void Resolver::resolve_filter_block(FilterBlock& node, const Frame& frame) {
  Symbols symbols(&frame.symbols, frame.function);
  analyze_body(symbols, node.body);
  analyze_expr(symbols, *node.filter);
  const Frame inner{symbols, frame.function, false, false, false, frame.in_loop};
  resolve_body(node.body, inner);
  resolve_expr(*node.filter, inner);
  node.scope = symbols.scope();
}

void Resolver::resolve_assign_block(AssignBlock& node, const Frame& frame) {
  Symbols symbols(&frame.symbols, frame.function);
  analyze_body(symbols, node.body);
  const Frame inner{symbols, frame.function, false, false, false, frame.in_loop};
  resolve_body(node.body, inner);
  resolve_expr(*node.target, frame);
  if (node.filter) {
    // Jinja2 fails with an internal error for a name here that no scope knows; reading it is
    // kinder.
    analyze_expr(symbols, *node.filter);
    resolve_expr(*node.filter, inner);
  }
  node.exported = frame.toplevel && !blocks_.empty();
  node.scope = symbols.scope();
}

void Resolver::resolve_with(With& node, const Frame& frame) {
  Symbols symbols(&frame.symbols, frame.function);
  walk_all(node.targets, [&](Expr& target) { analyze_expr(symbols, target); });
  analyze_body(symbols, node.body);
  const Frame inner{symbols, frame.function, false, false, false, frame.in_loop};
  resolve_all(node.targets, inner);
  resolve_all(node.values, frame);
  resolve_body(node.body, inner);
  node.scope = symbols.scope();
}

void Resolver::resolve_autoescape(Autoescape& node, const Frame& frame) {
  Symbols symbols(&frame.symbols, frame.function);
  analyze_expr(symbols, *node.enabled);
  analyze_body(symbols, node.body);
  const Frame inner{symbols, frame.function, false, false, false, frame.in_loop};
  resolve_expr(*node.enabled, inner);
  const Escaping outer = escaping_;
  const auto* const constant = node.enabled->as<Const>();
  escaping_ = Escaping::AtRuntime;
  if (constant != nullptr && outer != Escaping::AtRuntime &&
      constant->value.is(Value::Kind::Bool)) {
    escaping_ = constant->value.boolean() ? Escaping::On : Escaping::Off;
  }
  resolve_body(node.body, inner);
  escaping_ = outer;
  node.scope = symbols.scope();
}

void Resolver::resolve_for(For& node, Statement& statement, const Frame& frame) {
  FunctionScope own(node.recursive ? &frame.function : nullptr);
  FunctionScope& function = node.recursive ? own : frame.function;
  node.escaping = escaping_;
  Symbols loop_symbols(&frame.symbols, function);
  bool scoped_block = false;
  walk_deep(
      statement, [](Expr& expr) { check_no_loop_target(expr); },
      [&](Statement& child) {
        const auto* const block = child.as<Block>();
        scoped_block = scoped_block || (block != nullptr && block->scoped);
      });
  node.extended =
      node.recursive || scoped_block || find_undeclared(node.body, {"loop"}).contains("loop");
  if (node.extended) {
    node.loop_ref = {0, loop_symbols.declare_parameter("loop")};
  }
  analyze_expr(loop_symbols, *node.target, true);
  analyze_body(loop_symbols, node.body);
  resolve_expr(*node.iterable, frame);
  if (node.test) {
    resolve_test(node, frame);
  }
  resolve_expr(*node.target, Frame{loop_symbols, function});
  resolve_body(node.body, Frame{loop_symbols, function, false, false, false, true});
  node.scope = loop_symbols.scope();
  Symbols else_symbols(&frame.symbols, function);
  analyze_body(else_symbols, node.otherwise);
  resolve_body(node.otherwise, Frame{else_symbols, function, false, false, false,
                                     frame.in_loop && !node.recursive});
  node.else_scope = else_symbols.scope();
  node.function = own.info();
}

void Resolver::resolve_test(For& node, const Frame& frame) {
  FunctionScope function(&frame.function);
  Symbols symbols(&frame.symbols, function);
  node.test_target = copy_target(*node.target);
  analyze_expr(symbols, *node.test_target, true);
  analyze_expr(symbols, *node.test);
  const Frame inner{symbols, function};
  resolve_expr(*node.test_target, inner);
  resolve_expr(*node.test, inner);
  node.test_scope = symbols.scope();
  node.test_function = function.info();
}

void Resolver::resolve_macro(MacroBody& macro, std::size_t offset, const Frame& frame) {
  FunctionScope function(&frame.function);
  Symbols symbols(&frame.symbols, function);
  const std::set<std::string> unique(macro.arguments.begin(), macro.arguments.end());
  if (unique.size() != macro.arguments.size()) {
    late_error("duplicate argument in function definition", offset);
  }
  walk_all(macro.targets, [&](Expr& target) { analyze_expr(symbols, target); });
  walk_all(macro.defaults, [&](Expr& value) { analyze_expr(symbols, value); });
  analyze_body(symbols, macro.body);
  for (const std::string& name : macro.arguments) {
    macro.parameter_slots.push_back(symbols.ref(name).slot);
  }
  declare_special(macro, symbols, offset);
  const Frame inner{symbols, function};
  resolve_all(macro.targets, inner);
  resolve_all(macro.defaults, inner);
  resolve_body(macro.body, inner);
  macro.scope = symbols.scope();
  macro.function = function.info();
}

void Resolver::declare_special(MacroBody& macro, Symbols& symbols, std::size_t offset) {
  const auto undeclared = find_undeclared(macro.body, {"caller", "kwargs", "varargs"});
  const auto argument = [&macro](std::string_view name) {
    return std::find(macro.arguments.begin(), macro.arguments.end(), name);
  };
  macro.uses_caller = undeclared.contains("caller");
  if (macro.uses_caller && argument("caller") != macro.arguments.end()) {
    const auto from_end = static_cast<std::size_t>(macro.arguments.end() - argument("caller"));
    if (from_end > macro.defaults.size()) {
      fail(
          "When defining macros or call blocks the special \"caller\" argument must be omitted "
          "or be given a default.",
          offset);
    }
  } else if (macro.uses_caller) {
    macro.parameter_slots.push_back(symbols.declare_parameter("caller"));
  }
  macro.uses_kwargs = undeclared.contains("kwargs") && argument("kwargs") == macro.arguments.end();
  if (macro.uses_kwargs) {
    macro.parameter_slots.push_back(symbols.declare_parameter("kwargs"));
  }
  macro.uses_varargs =
      undeclared.contains("varargs") && argument("varargs") == macro.arguments.end();
  if (macro.uses_varargs) {
    macro.parameter_slots.push_back(symbols.declare_parameter("varargs"));
  }
}

}  // namespace smol::jinja
