// Runs a resolved template once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "jinja/ast.h"
#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

class LoopObject;

// The variables of one running function.
struct Activation {
  Activation* outer;
  std::vector<Value> slots;
};

enum class Flow { Normal, Break, Continue };

class Interpreter {
 public:
  Interpreter(const TemplateTree& tree, const Dict& variables, Runtime& runtime)
      : tree_(tree), variables_(variables), runtime_(runtime) {}

  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // Throws Fault; runtime.position() is then the place.
  void run();

  MarkedString take_output() { return std::move(output_); }

  std::vector<Range> take_generation_spans() { return std::move(generation_spans_); }

  // For macros and loops as values, and for blocks called by name.
  Value call_macro(const MacroBody& macro, Activation* closure, const CallArgs& args);
  Value run_recursive_loop(const For& node, Activation* closure, const Value& iterable,
                           std::size_t depth);
  bool passes_test(const For& node, Activation& activation, const Value& item);
  Value call_block(const std::string& name);
  const Block* find_block(std::string_view name) const noexcept;

 private:
  // Gives a function its activation: on the stack unless functions made inside may outlive it.
  class Frame {
   public:
    Frame(Interpreter& interpreter, const FunctionInfo& info, Activation* outer);

    Activation& activation() noexcept { return *activation_; }

   private:
    Activation own_;
    Activation* activation_;
  };

  // ---- statements ----
  Flow exec_body(const Body& body, Activation& activation, MarkedString& out);
  Flow exec(const Statement& statement, Activation& activation, MarkedString& out);
  void exec_output(const Output& node, Activation& activation, MarkedString& out);
  Flow exec_if(const If& node, Activation& activation, MarkedString& out);
  Flow exec_for(const For& node, Activation& activation, MarkedString& out);
  Flow exec_loop(const For& node, Activation& activation, const Value& items, Activation* closure,
                 std::size_t depth, MarkedString& out);
  // Whether a pass came to its end.
  bool exec_iterations(const For& node, Activation& activation, const Value& items,
                       LoopObject* loop, MarkedString& out);
  void exec_generation(const Generation& node, Activation& activation, MarkedString& out);
  void exec_call_block(const CallBlock& node, Activation& activation, MarkedString& out);
  Flow exec_filter_block(const FilterBlock& node, Activation& activation, MarkedString& out);
  void exec_assign(const Assign& node, Activation& activation);
  Flow exec_assign_block(const AssignBlock& node, Activation& activation);
  Flow exec_with(const With& node, Activation& activation, MarkedString& out);
  Flow exec_autoescape(const Autoescape& node, Activation& activation, MarkedString& out);
  void exec_block(const Block& node, Activation& activation, MarkedString& out);
  void exec_macro(const Macro& node, Activation& activation);
  [[noreturn]] void exec_loader_tag(const LoaderTag& node, Activation& activation);
  void run_block(const Block& node, MarkedString& out);
  void bind_parameters(const MacroBody& macro, Activation& activation, const CallArgs& args);

  void write(MarkedString& out, const Value& value, Escaping escaping);
  void check_output(const MarkedString& out) const;
  bool escapes(Escaping escaping) const noexcept;

  // ---- scopes ----
  void enter(const Scope& scope, Activation& activation);
  static void leave(const Scope& scope, Activation& activation);
  static Value& variable(Activation& activation, VarRef ref);
  void assign(const Expr& target, Activation& activation, const Value& value);
  void export_target(const Expr& target, Activation& activation);
  Value resolve(const std::string& name) const;
  Activation& keep_activation(const FunctionInfo& info, Activation* outer);

  // ---- expressions ----
  Value eval(const Expr& expr, Activation& activation);
  Value eval_name(const Name& node, Activation& activation);
  Value eval_unary(const Unary& node, const Expr& expr, Activation& activation);
  Value eval_binary(const Binary& node, const Expr& expr, Activation& activation);
  Value eval_logic(const Logic& node, Activation& activation);
  Value eval_concat(const Concat& node, const Expr& expr, Activation& activation);
  Value eval_compare(const Compare& node, const Expr& expr, Activation& activation);
  Value eval_conditional(const Conditional& node, Activation& activation);
  Value eval_item(const Item& node, const Expr& expr, Activation& activation);
  Value eval_call(const Call& node, const Expr& expr, Activation& activation, const Value* caller);
  Value eval_filter(const Filter& node, const Expr& expr, Activation& activation,
                    const MarkedString* body);
  Value eval_test(const Test& node, const Expr& expr, Activation& activation);
  Value eval_dict(const DictExpr& node, Activation& activation);
  List eval_all(const std::vector<ExprPtr>& items, Activation& activation);
  CallArgs eval_arguments(const Arguments& args, Activation& activation);
  void add_keywords(CallArgs& args, const Value& mapping);

  const TemplateTree& tree_;
  const Dict& variables_;
  Runtime& runtime_;
  MarkedString output_;
  std::vector<Range> generation_spans_;
  std::map<std::string, Value> exported_;             // top-level assignments, for blocks
  std::vector<std::map<std::string, Value>> scoped_;  // what scoped blocks see
  std::vector<std::unique_ptr<Activation>> activations_;
};

}  // namespace smol::jinja
