// Visits the children of a node in the order of Jinja2's fields, which its scoping rules depend on.
#pragma once

#include "jinja/ast.h"

namespace smol::jinja {

template <class... Ts>
struct Overload : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overload(Ts...) -> Overload<Ts...>;

template <class F>
void walk_pointer(ExprPtr& expr, const F& visit) {
  if (expr) {
    visit(*expr);
  }
}

template <class F>
void walk_all(std::vector<ExprPtr>& items, const F& visit) {
  for (ExprPtr& item : items) {
    visit(*item);
  }
}

template <class F>
void walk_arguments(Arguments& args, const F& visit) {
  walk_all(args.positional, visit);
  for (auto& [key, value] : args.keyword) {
    visit(*value);
  }
  walk_pointer(args.more_positional, visit);
  walk_pointer(args.more_keyword, visit);
}

// Calls visit(Expr&) for each direct child.
template <class F>
void walk_children(Expr& expr, const F& visit) {
  std::visit(Overload{
                 [](Const&) {},
                 [](Name&) {},
                 [](NamespaceRef&) {},
                 [&](TupleExpr& node) { walk_all(node.items, visit); },
                 [&](ListExpr& node) { walk_all(node.items, visit); },
                 [&](DictExpr& node) {
                   for (auto& [key, value] : node.items) {
                     visit(*key);
                     visit(*value);
                   }
                 },
                 [&](Unary& node) { visit(*node.operand); },
                 [&](Binary& node) {
                   visit(*node.left);
                   visit(*node.right);
                 },
                 [&](Logic& node) {
                   visit(*node.left);
                   visit(*node.right);
                 },
                 [&](Concat& node) { walk_all(node.items, visit); },
                 [&](Compare& node) {
                   visit(*node.first);
                   for (auto& [op, operand] : node.rest) {
                     visit(*operand);
                   }
                 },
                 [&](Conditional& node) {
                   visit(*node.test);
                   visit(*node.then);
                   walk_pointer(node.otherwise, visit);
                 },
                 [&](Attribute& node) { visit(*node.object); },
                 [&](Item& node) {
                   visit(*node.object);
                   visit(*node.key);
                 },
                 [&](Slice& node) {
                   walk_pointer(node.start, visit);
                   walk_pointer(node.stop, visit);
                   walk_pointer(node.step, visit);
                 },
                 [&](Call& node) {
                   visit(*node.callee);
                   walk_arguments(node.args, visit);
                 },
                 [&](Filter& node) {
                   walk_pointer(node.input, visit);
                   walk_arguments(node.args, visit);
                 },
                 [&](Test& node) {
                   visit(*node.input);
                   walk_arguments(node.args, visit);
                 },
             },
             expr.node);
}

template <class S>
void walk_body(Body& statements, const S& on_statement) {
  for (StatementPtr& child : statements) {
    on_statement(*child);
  }
}

template <class E, class S>
void walk_macro(MacroBody& node, const E& on_expr, const S& on_statement) {
  walk_all(node.targets, on_expr);
  walk_all(node.defaults, on_expr);
  walk_body(node.body, on_statement);
}

// Calls on_expr(Expr&) and on_statement(Statement&) for each direct child of a statement.
template <class E, class S>
void walk_statement(Statement& statement, const E& on_expr, const S& on_statement) {
  const auto body = [&](Body& statements) { walk_body(statements, on_statement); };
  const auto macro = [&](MacroBody& node) { walk_macro(node, on_expr, on_statement); };
  std::visit(Overload{
                 [&](Output& node) { walk_all(node.parts, on_expr); },
                 [&](If& node) {
                   for (auto& [test, branch] : node.branches) {
                     on_expr(*test);
                     body(branch);
                   }
                   body(node.otherwise);
                 },
                 [&](For& node) {
                   on_expr(*node.target);
                   on_expr(*node.iterable);
                   body(node.body);
                   body(node.otherwise);
                   walk_pointer(node.test, on_expr);
                 },
                 [&](Macro& node) { macro(node.macro); },
                 [&](CallBlock& node) {
                   on_expr(*node.call);
                   macro(node.macro);
                 },
                 [&](Generation& node) { macro(node.macro); },
                 [&](FilterBlock& node) {
                   body(node.body);
                   on_expr(*node.filter);
                 },
                 [&](Assign& node) {
                   on_expr(*node.target);
                   on_expr(*node.value);
                 },
                 [&](AssignBlock& node) {
                   on_expr(*node.target);
                   walk_pointer(node.filter, on_expr);
                   body(node.body);
                 },
                 [&](With& node) {
                   walk_all(node.targets, on_expr);
                   walk_all(node.values, on_expr);
                   body(node.body);
                 },
                 [&](Autoescape& node) {
                   on_expr(*node.enabled);
                   body(node.body);
                 },
                 [&](Block& node) { body(node.body); },
                 [&](LoaderTag& node) { on_expr(*node.source); },
                 [](Break&) {},
                 [](Continue&) {},
             },
             statement.node);
}

// Calls visit for each statement within, at any depth, and each expression within those.
template <class E, class S>
void walk_deep(Statement& statement, const E& on_expr, const S& on_statement) {
  on_statement(statement);
  walk_statement(statement, on_expr,
                 [&](Statement& child) { walk_deep(child, on_expr, on_statement); });
}

}  // namespace smol::jinja
