#include "jinja/resolver.h"

#include <algorithm>
#include <set>
#include <string>

#include "jinja/ast_walk.h"
#include "jinja/lexer.h"
#include "jinja/symbols.h"
#include "jinja/text.h"

namespace smol::jinja {
namespace {

// Where code stands while it is compiled.
struct Frame {
  Symbols& symbols;
  FunctionScope& function;
  bool toplevel = false;   // the root, also within its ifs
  bool rootlevel = false;  // the root, not within an if
  bool soft = false;       // unknown filters are an error only when reached
  bool in_loop = false;    // break and continue have a loop
};

[[noreturn]] void fail(const std::string& message, std::size_t offset) {
  throw SyntaxError{message, offset};
}

Frame softened(const Frame& frame) {
  Frame copy = frame;
  copy.rootlevel = false;
  copy.soft = true;
  return copy;
}

// Calls visit for each statement within, at any depth, and each expression within those.
template <class E, class S>
void walk_deep(Statement& statement, const E& on_expr, const S& on_statement) {
  on_statement(statement);
  walk_statement(statement, on_expr,
                 [&](Statement& child) { walk_deep(child, on_expr, on_statement); });
}

void check_no_loop_target(Expr& expr) {
  if (const auto* const name = expr.as<Name>();
      name != nullptr && name->use == NameUse::Store && name->name == "loop") {
    fail("Can't assign to special loop variable in for-loop target", expr.offset);
  }
  walk_children(expr, check_no_loop_target);
}

class Resolver {
 public:
  explicit Resolver(TemplateTree& tree)
      : tree_(tree), escaping_(tree.autoescape ? Escaping::On : Escaping::Off) {
    for (std::size_t at = 0; (at = tree.source.find('\n', at)) != std::string::npos; ++at) {
      newlines_.push_back(at);
    }
  }

  void run() {
    collect_blocks();
    FunctionScope function(nullptr);
    Symbols symbols(nullptr, function);
    if (find_undeclared(tree_.body, {"self"}).contains("self")) {
      tree_.self_slot = symbols.declare_parameter("self");
    }
    analyze_body(symbols, tree_.body);
    resolve_body(tree_.body, Frame{symbols, function, true, true});
    tree_.scope = symbols.scope();
    tree_.function = function.info();
    for (Block* block : blocks_) {
      resolve_block(*block);
    }
  }

 private:
  void late_error(std::string message, std::size_t offset) {
    if (tree_.late_error.empty()) {
      tree_.late_error = std::move(message);
      tree_.late_error_offset = offset;
    }
  }

  void collect_blocks() {
    std::set<std::string> names;
    for (StatementPtr& statement : tree_.body) {
      walk_deep(
          *statement, [](Expr&) {},
          [&](Statement& child) {
            auto* const block = child.as<Block>();
            if (block != nullptr && !names.insert(block->name).second) {
              fail("block " + quote(block->name) + " defined twice", child.offset);
            }
            if (block != nullptr) {
              blocks_.push_back(block);
              tree_.blocks.push_back(block);
            }
          });
    }
  }

  void resolve_block(Block& block) {
    FunctionScope function(nullptr);
    Symbols symbols(nullptr, function);
    const auto undeclared = find_undeclared(block.body, {"self", "super"});
    if (undeclared.contains("self")) {
      block.self_slot = symbols.declare_parameter("self");
    }
    if (undeclared.contains("super")) {
      block.super_slot = symbols.declare_parameter("super");
    }
    analyze_body(symbols, block.body);
    resolve_body(block.body, Frame{symbols, function});
    block.scope = symbols.scope();
    block.function = function.info();
  }

  void resolve_body(Body& body, const Frame& frame) {
    for (StatementPtr& statement : body) {
      resolve_statement(*statement, frame);
      const auto* const tag = statement->as<LoaderTag>();
      if (tag != nullptr && tag->tag == "extends" && frame.rootlevel) {
        return;  // nothing after it is ever compiled or run
      }
    }
  }

  void resolve_statement(Statement& statement, const Frame& frame) {
    std::visit(Overload{
                   [&](Output& node) {
                     node.escaping = escaping_;
                     resolve_all(node.parts, frame);
                   },
                   [&](If& node) { resolve_if(node, frame); },
                   [&](For& node) { resolve_for(node, statement, frame); },
                   [&](Macro& node) {
                     resolve_macro(node.macro, statement.offset, frame);
                     node.ref = frame.symbols.ref(node.macro.name);
                     node.exported = frame.toplevel && !blocks_.empty();
                   },
                   [&](CallBlock& node) {
                     resolve_macro(node.macro, statement.offset, frame);
                     resolve_expr(*node.call, frame);
                   },
                   [&](Generation& node) { resolve_macro(node.macro, statement.offset, frame); },
                   [&](FilterBlock& node) { resolve_filter_block(node, frame); },
                   [&](Assign& node) {
                     resolve_expr(*node.target, frame);
                     resolve_expr(*node.value, frame);
                     node.exported = frame.toplevel && !blocks_.empty();
                   },
                   [&](AssignBlock& node) { resolve_assign_block(node, frame); },
                   [&](With& node) { resolve_with(node, frame); },
                   [&](Autoescape& node) { resolve_autoescape(node, frame); },
                   [&](Block& node) {
                     if (node.scoped) {
                       node.visible = frame.symbols.visible_stores();
                     }
                   },
                   [&](LoaderTag& node) { resolve_loader_tag(node, statement.offset, frame); },
                   [&](Break&) { check_loop("break", statement.offset, frame); },
                   [&](Continue&) { check_loop("continue", statement.offset, frame); },
               },
               statement.node);
  }

  void check_loop(std::string_view tag, std::size_t offset, const Frame& frame) {
    if (!frame.in_loop) {
      late_error(tag == "break" ? "'break' outside loop" : "'continue' not properly in loop",
                 offset);
    }
  }

  void resolve_loader_tag(LoaderTag& node, std::size_t offset, const Frame& frame) {
    if (node.tag == "extends" && !frame.toplevel) {
      fail("cannot use extend from a non top-level scope", offset);
    }
    resolve_expr(*node.source, frame);
  }

  void resolve_if(If& node, const Frame& frame) {
    const Frame soft = softened(frame);
    for (auto& [test, body] : node.branches) {
      resolve_expr(*test, soft);
      resolve_body(body, soft);
    }
    resolve_body(node.otherwise, soft);
  }

  // ---- scopes ----

  void resolve_filter_block(FilterBlock& node, const Frame& frame) {
    Symbols symbols(&frame.symbols, frame.function);
    analyze_body(symbols, node.body);
    analyze_expr(symbols, *node.filter);
    const Frame inner{symbols, frame.function, false, false, false, frame.in_loop};
    resolve_body(node.body, inner);
    resolve_expr(*node.filter, inner);
    node.scope = symbols.scope();
  }

  void resolve_assign_block(AssignBlock& node, const Frame& frame) {
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

  void resolve_with(With& node, const Frame& frame) {
    Symbols symbols(&frame.symbols, frame.function);
    walk_all(node.targets, [&](Expr& target) { analyze_expr(symbols, target); });
    analyze_body(symbols, node.body);
    const Frame inner{symbols, frame.function, false, false, false, frame.in_loop};
    resolve_all(node.targets, inner);
    resolve_all(node.values, frame);
    resolve_body(node.body, inner);
    node.scope = symbols.scope();
  }

  void resolve_autoescape(Autoescape& node, const Frame& frame) {
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

  void resolve_for(For& node, Statement& statement, const Frame& frame) {
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

  // The test runs in a function of its own, over its own copy of the target.
  void resolve_test(For& node, const Frame& frame) {
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

  static ExprPtr copy_target(const Expr& target) {
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

  void resolve_macro(MacroBody& macro, std::size_t offset, const Frame& frame) {
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

  static void declare_special(MacroBody& macro, Symbols& symbols, std::size_t offset) {
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
            "or be "
            "given a default.",
            offset);
      }
    } else if (macro.uses_caller) {
      macro.parameter_slots.push_back(symbols.declare_parameter("caller"));
    }
    macro.uses_kwargs =
        undeclared.contains("kwargs") && argument("kwargs") == macro.arguments.end();
    if (macro.uses_kwargs) {
      macro.parameter_slots.push_back(symbols.declare_parameter("kwargs"));
    }
    macro.uses_varargs =
        undeclared.contains("varargs") && argument("varargs") == macro.arguments.end();
    if (macro.uses_varargs) {
      macro.parameter_slots.push_back(symbols.declare_parameter("varargs"));
    }
  }

  // ---- expressions ----

  void resolve_all(std::vector<ExprPtr>& items, const Frame& frame) {
    walk_all(items, [&](Expr& item) { resolve_expr(item, frame); });
  }

  void resolve_expr(Expr& expr, const Frame& frame) {
    if (auto* const name = expr.as<Name>()) {
      name->ref = frame.symbols.ref(name->name);
    } else if (auto* const target = expr.as<NamespaceRef>()) {
      target->ref = frame.symbols.ref(target->name);
    } else if (auto* const filter = expr.as<Filter>()) {
      filter->escaping = escaping_;
      check_known(filter->function != nullptr, "filter", filter->name, expr.offset, frame);
      check_arguments(filter->args, expr.offset);
    } else if (const auto* const test = expr.as<Test>()) {
      check_known(test->function != nullptr, "test", test->name, expr.offset, frame);
      check_arguments(test->args, expr.offset);
    } else if (const auto* const call = expr.as<Call>()) {
      check_arguments(call->args, expr.offset);
    } else if (auto* const concat = expr.as<Concat>()) {
      concat->escaping = escaping_;
    } else if (const auto* const item = expr.as<Item>()) {
      check_key(*item->key);
    } else if (auto* const conditional = expr.as<Conditional>()) {
      conditional->line = line_of(expr.offset);
    }
    const bool soft = expr.as<Conditional>() != nullptr || never_compiled(expr);
    const Frame inner = soft ? softened(frame) : frame;
    walk_children(expr, [&](Expr& child) { resolve_expr(child, inner); });
  }

  std::size_t line_of(std::size_t offset) const {
    const auto after = std::lower_bound(newlines_.begin(), newlines_.end(), offset);
    return static_cast<std::size_t>(after - newlines_.begin()) + 1;
  }

  // `true or x`: Jinja2 folds it before it looks at x.
  static bool never_compiled(const Expr& expr) {
    const auto* const logic = expr.as<Logic>();
    const auto* const left = logic != nullptr ? logic->left->as<Const>() : nullptr;
    return left != nullptr && left->value.is(Value::Kind::Bool) &&
           left->value.boolean() != logic->is_and;
  }

  static void check_known(bool known, const std::string& kind, const std::string& name,
                          std::size_t offset, const Frame& frame) {
    if (!known && !frame.soft) {
      fail("No " + kind + " named " + quote(name) + ".", offset);
    }
  }

  void check_arguments(const Arguments& args, std::size_t offset) {
    std::set<std::string_view> names;
    for (const auto& [name, value] : args.keyword) {
      if (!names.insert(name).second) {
        late_error("keyword argument repeated: " + name, offset);
      }
    }
  }

  void check_key(Expr& key) {
    if (auto* const tuple = key.as<TupleExpr>()) {
      for (const ExprPtr& item : tuple->items) {
        if (item->as<Slice>() != nullptr) {
          late_error("invalid syntax", item->offset);
        }
      }
    }
  }

  TemplateTree& tree_;
  Escaping escaping_;
  std::vector<Block*> blocks_;
  std::vector<std::size_t> newlines_;  // offsets
};

}  // namespace

void resolve(TemplateTree& tree) {
  Resolver(tree).run();
}

}  // namespace smol::jinja
