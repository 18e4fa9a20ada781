// Expressions.
#include <algorithm>
#include <memory>

#include "jinja/ast_walk.h"
#include "jinja/attributes.h"
#include "jinja/compare.h"
#include "jinja/fault.h"
#include "jinja/interpreter.h"
#include "jinja/iteration.h"
#include "jinja/markup.h"
#include "jinja/names.h"
#include "jinja/operators.h"
#include "jinja/text.h"

namespace smol::jinja {

Value Interpreter::eval(const Expr& expr, Activation& activation) {
  runtime_.budget().step();
  if (const auto* const constant = expr.as<Const>()) {
    return constant->value;
  }
  if (const auto* const name = expr.as<Name>()) {
    return eval_name(*name, activation);
  }
  const Runtime::Level level(runtime_);
  return std::visit(
      Overload{
          [](const Const& node) { return node.value; },
          [&](const Name& node) { return eval_name(node, activation); },
          [](const NamespaceRef&) { return Value(); },
          [&](const TupleExpr& node) { return runtime_.tuple(eval_all(node.items, activation)); },
          [&](const ListExpr& node) { return runtime_.list(eval_all(node.items, activation)); },
          [&](const DictExpr& node) { return eval_dict(node, activation); },
          [&](const Unary& node) { return eval_unary(node, expr, activation); },
          [&](const Binary& node) { return eval_binary(node, expr, activation); },
          [&](const Logic& node) { return eval_logic(node, activation); },
          [&](const Concat& node) { return eval_concat(node, expr, activation); },
          [&](const Compare& node) { return eval_compare(node, expr, activation); },
          [&](const Conditional& node) { return eval_conditional(node, activation); },
          [&](const Attribute& node) {
            const Value object = eval(*node.object, activation);
            runtime_.set_position(expr.offset);
            return get_attribute(runtime_, object, node.name);
          },
          [&](const Item& node) { return eval_item(node, expr, activation); },
          [](const Slice&) { return Value(); },
          [&](const Call& node) { return eval_call(node, expr, activation, nullptr); },
          [&](const Filter& node) { return eval_filter(node, expr, activation, nullptr); },
          [&](const Test& node) { return eval_test(node, expr, activation); },
      },
      expr.node);
}

Value Interpreter::eval_name(const Name& node, Activation& activation) {
  const Value& value = variable(activation, node.ref);
  if (!value.is_missing()) {
    return value;
  }
  Undefined info;
  info.name = std::make_shared<const Value>(Value::string(node.name, Origin::Template));
  return Value::undefined(std::move(info));
}

Value Interpreter::eval_unary(const Unary& node, const Expr& expr, Activation& activation) {
  const Value operand = eval(*node.operand, activation);
  runtime_.set_position(expr.offset);
  switch (node.op) {
    case Unary::Op::Minus:
      return negate(operand);
    case Unary::Op::Plus:
      return plus(operand);
    case Unary::Op::Not:
      break;
  }
  return Value::boolean(!truthy(runtime_, operand));
}

Value Interpreter::eval_binary(const Binary& node, const Expr& expr, Activation& activation) {
  const Value left = eval(*node.left, activation);
  const Value right = eval(*node.right, activation);
  runtime_.set_position(expr.offset);
  return binary(runtime_, node.op, left, right);
}

Value Interpreter::eval_logic(const Logic& node, Activation& activation) {
  Value left = eval(*node.left, activation);
  const bool decided = truthy(runtime_, left) != node.is_and;
  return decided ? left : eval(*node.right, activation);
}

Value Interpreter::eval_concat(const Concat& node, const Expr& expr, Activation& activation) {
  const List items = eval_all(node.items, activation);
  runtime_.set_position(expr.offset);
  const bool markup =
      escapes(node.escaping) &&
      std::any_of(items.begin(), items.end(), [](const Value& item) { return item.is_markup(); });
  MarkedString text;
  for (const Value& item : items) {
    if (markup) {
      text.append(escape(runtime_, item).text());
    } else {
      runtime_.budget().charge(item.is_string() ? item.bytes().size() : 0);
      append_text(runtime_, text, item);
    }
  }
  return runtime_.text(std::move(text), markup);
}

namespace {

bool compare(Runtime& runtime, CompareOp op, const Value& left, const Value& right) {
  switch (op) {
    case CompareOp::Equal:
      return equals(runtime.budget(), left, right);
    case CompareOp::NotEqual:
      return !equals(runtime.budget(), left, right);
    case CompareOp::Less:
      return ordered(runtime.budget(), Ordering::Less, left, right);
    case CompareOp::LessEqual:
      return ordered(runtime.budget(), Ordering::LessEqual, left, right);
    case CompareOp::Greater:
      return ordered(runtime.budget(), Ordering::Greater, left, right);
    case CompareOp::GreaterEqual:
      return ordered(runtime.budget(), Ordering::GreaterEqual, left, right);
    case CompareOp::In:
      return contains(runtime, right, left);
    case CompareOp::NotIn:
      break;
  }
  return !contains(runtime, right, left);
}

}  // namespace

Value Interpreter::eval_compare(const Compare& node, const Expr& expr, Activation& activation) {
  Value left = eval(*node.first, activation);
  for (const auto& [op, operand] : node.rest) {
    Value right = eval(*operand, activation);
    runtime_.set_position(expr.offset);
    if (!compare(runtime_, op, left, right)) {
      return Value::boolean(false);
    }
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Interpreter::eval_conditional(const Conditional& node, Activation& activation) {
  if (truthy(runtime_, eval(*node.test, activation))) {
    return eval(*node.then, activation);
  }
  if (node.otherwise) {
    return eval(*node.otherwise, activation);
  }
  Undefined info;
  info.hint = "the inline if-expression on line " + std::to_string(node.line) +
              " evaluated to false and no else section was defined.";
  return Value::undefined(std::move(info));
}

Value Interpreter::eval_item(const Item& node, const Expr& expr, Activation& activation) {
  const Value object = eval(*node.object, activation);
  if (const auto* const slice = node.key->as<Slice>()) {
    const auto bound = [&](const ExprPtr& part) {
      return part ? eval(*part, activation) : Value();
    };
    const Value start = bound(slice->start);
    const Value stop = bound(slice->stop);
    const Value step = bound(slice->step);
    runtime_.set_position(expr.offset);
    try {
      return get_slice(runtime_, object, start, stop, step);
    } catch (const Fault& fault) {
      if (!node.folded || fault.kind() != FaultKind::Type) {
        throw;
      }
      return Value::undefined({});
    }
  }
  const Value key = eval(*node.key, activation);
  runtime_.set_position(expr.offset);
  return get_item(runtime_, object, key);
}

List Interpreter::eval_all(const std::vector<ExprPtr>& items, Activation& activation) {
  List values;
  values.reserve(items.size());
  for (const ExprPtr& item : items) {
    values.push_back(eval(*item, activation));
  }
  return values;
}

Value Interpreter::eval_dict(const DictExpr& node, Activation& activation) {
  Dict dict;
  for (const auto& [key, value] : node.items) {
    Value evaluated = eval(*key, activation);
    dict.set(std::move(evaluated), eval(*value, activation), runtime_.budget());
  }
  return runtime_.dict(std::move(dict));
}

void Interpreter::add_keywords(CallArgs& args, const Value& mapping) {
  if (!mapping.is(Value::Kind::Dict)) {
    raise_type("argument after ** must be a mapping, not " + std::string(type_name(mapping)));
  }
  for (const auto& [key, value] : mapping.dict()) {
    if (!key.is_string()) {
      raise_type("keywords must be strings");
    }
    for (const auto& [name, other] : args.keyword) {
      if (name == key.bytes()) {
        raise_type("got multiple values for keyword argument " + quote(name));
      }
    }
    runtime_.budget().step(args.keyword.size() + 1);
    args.keyword.emplace_back(key.bytes(), value);
  }
}

CallArgs Interpreter::eval_arguments(const Arguments& node, Activation& activation) {
  CallArgs args;
  args.positional = eval_all(node.positional, activation);
  if (node.more_positional) {
    const Value more = eval(*node.more_positional, activation);
    Iteration items(runtime_, more);
    while (auto item = items.next(runtime_)) {
      runtime_.budget().charge(sizeof(Value));
      args.positional.push_back(std::move(*item));
    }
  }
  for (const auto& [name, value] : node.keyword) {
    args.keyword.emplace_back(name, eval(*value, activation));
  }
  if (node.more_keyword) {
    add_keywords(args, eval(*node.more_keyword, activation));
  }
  return args;
}

Value Interpreter::eval_call(const Call& node, const Expr& expr, Activation& activation,
                             const Value* caller) {
  const auto* const method = node.callee->as<Attribute>();
  const Value object = eval(method != nullptr ? *method->object : *node.callee, activation);
  if (method != nullptr && object.is_undefined()) {
    runtime_.set_position(node.callee->offset);
    get_attribute(runtime_, object, method->name);  // fails before the arguments are looked at
  }
  CallArgs args = eval_arguments(node.args, activation);
  if (caller != nullptr) {
    args.keyword.emplace_back("caller", *caller);
  }
  runtime_.set_position(expr.offset);
  return method != nullptr ? call_method(runtime_, object, method->name, args)
                           : call_value(runtime_, object, args);
}

Value Interpreter::eval_filter(const Filter& node, const Expr& expr, Activation& activation,
                               const MarkedString* body) {
  // In a chain of filters the innermost one has no input: it takes the body of the block.
  Value input;
  if (!node.input) {
    input = runtime_.text(*body, escapes(node.escaping));
  } else if (body != nullptr) {
    input = eval_filter(*node.input->as<Filter>(), *node.input, activation, body);
  } else {
    input = eval(*node.input, activation);
  }
  const CallArgs args = eval_arguments(node.args, activation);
  runtime_.set_position(expr.offset);
  if (node.function == nullptr) {
    raise(FaultKind::Runtime, "No filter named " + quote(node.name) + " found.");
  }
  return node.function(runtime_, input, args);
}

Value Interpreter::eval_test(const Test& node, const Expr& expr, Activation& activation) {
  const Value input = eval(*node.input, activation);
  const CallArgs args = eval_arguments(node.args, activation);
  runtime_.set_position(expr.offset);
  if (node.function == nullptr) {
    raise(FaultKind::Runtime, "No test named " + quote(node.name) + " found.");
  }
  return Value::boolean(node.function(runtime_, input, args));
}

}  // namespace smol::jinja
