// The parsed template: plain data. parser.cpp builds it, resolver.cpp gives every name its place,
// interpreter.cpp runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "jinja/object.h"
#include "jinja/operators.h"
#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

using FilterFunction = Value (*)(Runtime& runtime, const Value& input, const CallArgs& args);
using TestFunction = bool (*)(Runtime& runtime, const Value& input, const CallArgs& args);

// A variable's place: the activation of the function `hops` levels out, and the slot there.
struct VarRef {
  std::uint32_t hops = 0;
  std::uint32_t slot = 0;
};

// Whether output is escaped, as far as the template says before it runs.
enum class Escaping { Off, On, AtRuntime };

// What happens to the slots of a scope when it is entered.
struct Load {
  enum class Action { Parameter, Resolve, Alias, Undefined };
  Action action;
  std::uint32_t slot;
  VarRef source;     // Alias
  std::string name;  // Resolve
};

struct Scope {
  std::vector<Load> loads;
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;
struct Statement;
using StatementPtr = std::unique_ptr<Statement>;
using Body = std::vector<StatementPtr>;

// ---- expressions ----
enum class NameUse { Load, Store, Param };

struct Const {
  Value value;
};

struct Name {
  std::string name;
  NameUse use;
  VarRef ref;
};

// ns.attribute as the target of an assignment.
struct NamespaceRef {
  std::string name, attribute;
  VarRef ref;
};

struct TupleExpr {
  std::vector<ExprPtr> items;
};

struct ListExpr {
  std::vector<ExprPtr> items;
};

struct DictExpr {
  std::vector<std::pair<ExprPtr, ExprPtr>> items;
};

struct Unary {
  enum class Op { Minus, Plus, Not };
  Op op;
  ExprPtr operand;
};

struct Binary {
  BinaryOp op;
  ExprPtr left, right;
};

struct Logic {
  bool is_and;
  ExprPtr left, right;
};

struct Concat {
  std::vector<ExprPtr> items;
  Escaping escaping = Escaping::Off;
};

enum class CompareOp { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, In, NotIn };

struct Compare {
  ExprPtr first;
  std::vector<std::pair<CompareOp, ExprPtr>> rest;
};

struct Conditional {
  ExprPtr test, then, otherwise;  // otherwise: may be null
  std::size_t line;
};

struct Attribute {
  ExprPtr object;
  std::string name;
};

struct Item {
  ExprPtr object, key;
  // Jinja2 computes it when it compiles, where a slice of what has none is no error but undefined.
  bool folded = false;
};

struct Slice {
  ExprPtr start, stop, step;  // each may be null
};

struct Arguments {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> keyword;
  ExprPtr more_positional, more_keyword;  // *x, **x; may be null
};

struct Call {
  ExprPtr callee;
  Arguments args;
};

struct Filter {
  ExprPtr input;  // null: the body of the filter block
  std::string name;
  FilterFunction function;  // null: unknown, fails when reached
  Arguments args;
  Escaping escaping = Escaping::Off;  // of the body
};

struct Test {
  ExprPtr input;
  std::string name;
  TestFunction function;
  Arguments args;
};

struct Expr {
  std::size_t offset;  // into the normalized source
  std::uint32_t depth;
  std::variant<Const, Name, NamespaceRef, TupleExpr, ListExpr, DictExpr, Unary, Binary, Logic,
               Concat, Compare, Conditional, Attribute, Item, Slice, Call, Filter, Test>
      node;

  template <class T>
  T* as() noexcept {
    return std::get_if<T>(&node);
  }

  template <class T>
  const T* as() const noexcept {
    return std::get_if<T>(&node);
  }
};

// ---- statements ----
struct Output {
  std::vector<ExprPtr> parts;  // template data are Const parts with is_data
  std::vector<bool> is_data;
  Escaping escaping = Escaping::Off;
};

struct If {
  std::vector<std::pair<ExprPtr, Body>> branches;
  Body otherwise;
};

struct FunctionInfo {
  std::uint32_t slots = 0;
  bool captured = false;  // functions made inside look into its activation
};

struct For {
  ExprPtr target, iterable, test;  // test: may be null
  Body body, otherwise;
  bool recursive = false;
  bool extended = false;  // `loop` is used
  VarRef loop_ref;
  Scope scope, test_scope, else_scope;
  FunctionInfo function, test_function;  // of a recursive loop; of the test
  ExprPtr test_target;                   // the target again, in the test's function
  Escaping escaping = Escaping::Off;
};

// Macros and the bodies of call blocks.
struct MacroBody {
  std::string name;  // empty: a call block
  std::vector<std::string> arguments;
  std::vector<ExprPtr> targets;   // Name, use Param
  std::vector<ExprPtr> defaults;  // of the last arguments
  Body body;
  bool uses_caller = false, uses_kwargs = false, uses_varargs = false;
  // Slots in the order that calls fill them: arguments, caller, kwargs, varargs.
  std::vector<std::uint32_t> parameter_slots;
  Scope scope;
  FunctionInfo function;
};

struct Macro {
  MacroBody macro;
  VarRef ref;
  bool exported = false;  // at the top level: blocks see it
};

struct CallBlock {
  MacroBody macro;
  ExprPtr call;  // a Call
};

// {% generation %}
struct Generation {
  MacroBody macro;
};

struct FilterBlock {
  ExprPtr filter;  // Filter
  Body body;
  Scope scope;
};

struct Assign {
  ExprPtr target, value;
  bool exported = false;
};

struct AssignBlock {
  ExprPtr target, filter;  // filter: may be null
  Body body;
  bool exported = false;
  Scope scope;
};

struct With {
  std::vector<ExprPtr> targets, values;
  Body body;
  Scope scope;
};

struct Autoescape {
  ExprPtr enabled;
  Body body;
  Scope scope;
};

struct Block {
  std::string name;
  Body body;
  bool scoped = false, required = false;
  std::vector<std::pair<std::string, VarRef>> visible;  // a scoped block sees these
  Scope scope;
  FunctionInfo function;
  std::optional<std::uint32_t> self_slot, super_slot;
};

// extends, include, import: there is no loader, so running one fails.
struct LoaderTag {
  std::string tag;
  ExprPtr source;
  std::vector<std::string> names;  // what an import would define
};

struct Break {};

struct Continue {};

struct Statement {
  std::size_t offset;
  std::variant<Output, If, For, Macro, CallBlock, Generation, FilterBlock, Assign, AssignBlock,
               With, Autoescape, Block, LoaderTag, Break, Continue>
      node;

  template <class T>
  T* as() noexcept {
    return std::get_if<T>(&node);
  }
};

struct TemplateTree {
  std::string source;  // normalized
  bool autoescape = false;
  Body body;
  Scope scope;
  FunctionInfo function;
  std::optional<std::uint32_t> self_slot;
  std::vector<const Block*> blocks;
  // An error that Python only sees in the compiled template: raised when rendering starts.
  std::string late_error;
  std::size_t late_error_offset = 0;
};

}  // namespace smol::jinja
