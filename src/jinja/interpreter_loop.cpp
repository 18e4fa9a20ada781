// Loops and macros.
#include <memory>

#include "jinja/fault.h"
#include "jinja/interpreter.h"
#include "jinja/iteration.h"
#include "jinja/loop_object.h"
#include "jinja/names.h"
#include "jinja/objects.h"
#include "jinja/operators.h"
#include "jinja/text.h"

namespace smol::jinja {
namespace {

// The items of a loop that pass its test, found one by one.
class TestedItems final : public ValueIterator {
 public:
  TestedItems(Interpreter& interpreter, const For& node, Activation* closure, Value items)
      : interpreter_(interpreter),
        node_(node),
        activation_{closure, std::vector<Value>(node.test_function.slots)},
        source_(std::move(items)) {}

  std::optional<Value> next(Runtime& runtime) override {
    if (!items_) {
      items_.emplace(runtime, source_);
    }
    while (auto item = items_->next(runtime)) {
      if (interpreter_.passes_test(node_, activation_, *item)) {
        return item;
      }
    }
    return std::nullopt;
  }

 private:
  Interpreter& interpreter_;
  const For& node_;
  Activation activation_;
  Value source_;
  std::optional<Iteration> items_;
};

// Empties the loop's object when the loop is left, in whatever way.
class LoopEnd {
 public:
  explicit LoopEnd(std::shared_ptr<LoopObject> loop) : loop_(std::move(loop)) {}

  ~LoopEnd() {
    if (loop_) {
      loop_->clear();
    }
  }

  LoopEnd(const LoopEnd&) = delete;
  LoopEnd& operator=(const LoopEnd&) = delete;

 private:
  std::shared_ptr<LoopObject> loop_;
};

}  // namespace

bool Interpreter::passes_test(const For& node, Activation& activation, const Value& item) {
  const Runtime::Level level(runtime_);
  enter(node.test_scope, activation);
  assign(*node.test_target, activation, item);
  return truthy(runtime_, eval(*node.test, activation));
}

Flow Interpreter::exec_for(const For& node, Activation& activation, MarkedString& out) {
  const Value items = eval(*node.iterable, activation);
  runtime_.set_position(node.iterable->offset);
  if (!node.recursive) {
    return exec_loop(node, activation, items, &activation, 0, out);
  }
  const Value text = run_recursive_loop(node, &activation, items, 0);
  out.append(text.text());
  check_output(out);
  return Flow::Normal;
}

Value Interpreter::run_recursive_loop(const For& node, Activation* closure, const Value& iterable,
                                      std::size_t depth) {
  const Runtime::Level level(runtime_);
  Frame frame(*this, node.function, closure);
  MarkedString out;
  exec_loop(node, frame.activation(), iterable, closure, depth, out);
  return runtime_.text(std::move(out), escapes(node.escaping));
}

Flow Interpreter::exec_loop(const For& node, Activation& activation, const Value& items,
                            Activation* closure, std::size_t depth, MarkedString& out) {
  Value source = items;
  if (node.test) {
    source =
        make_iterator(std::make_shared<TestedItems>(*this, node, closure, items), 0, "generator");
  }
  bool any = false;
  if (node.extended) {
    auto loop = std::make_shared<LoopObject>(*this, runtime_, source, depth);
    runtime_.budget().charge(sizeof(LoopObject));
    if (node.recursive) {
      loop->set_recursion(node, closure);
    }
    const LoopEnd end(loop);
    variable(activation, node.loop_ref) = Value::object(loop);
    any = exec_iterations(node, activation, source, loop.get(), out);
  } else {
    any = exec_iterations(node, activation, source, nullptr, out);
  }
  leave(node.scope, activation);
  // Jinja2 takes a loop for empty until one pass of its body has come to the end: a break in the
  // first pass runs the else part, too.
  if (any || node.otherwise.empty()) {
    return Flow::Normal;
  }
  enter(node.else_scope, activation);
  const Flow flow = exec_body(node.otherwise, activation, out);
  leave(node.else_scope, activation);
  return flow;
}

bool Interpreter::exec_iterations(const For& node, Activation& activation, const Value& items,
                                  LoopObject* loop, MarkedString& out) {
  bool any = false;
  std::optional<Iteration> plain;
  if (loop == nullptr) {
    plain.emplace(runtime_, items);
  }
  for (;;) {
    const std::optional<Value> item =
        loop != nullptr ? loop->advance(runtime_) : plain->next(runtime_);
    if (!item) {
      return any;
    }
    assign(*node.target, activation, *item);
    enter(node.scope, activation);
    const Flow flow = exec_body(node.body, activation, out);
    if (flow == Flow::Break) {
      return any;
    }
    any = any || flow == Flow::Normal;
  }
}

// ---- macros ----

void Interpreter::bind_parameters(const MacroBody& macro, Activation& activation,
                                  const CallArgs& args) {
  const std::size_t count = macro.arguments.size();
  std::vector<std::pair<std::string, Value>> keyword = args.keyword;
  const auto take = [&keyword](std::string_view name) {
    for (auto it = keyword.begin(); it != keyword.end(); ++it) {
      if (it->first == name) {
        Value value = std::move(it->second);
        keyword.erase(it);
        return value;
      }
    }
    return Value();
  };
  std::vector<Value> parameters;
  bool found_caller = false;
  for (std::size_t i = 0; i < count; ++i) {
    const bool passed = i < args.positional.size();
    parameters.push_back(passed ? args.positional[i] : take(macro.arguments[i]));
    found_caller = found_caller || macro.arguments[i] == "caller";
  }
  if (macro.uses_caller && !found_caller) {
    Value caller = take("caller");
    if (caller.is_missing() || caller.is_none()) {
      Undefined info;
      info.hint = "No caller defined";
      caller = Value::undefined(std::move(info));
    }
    parameters.push_back(std::move(caller));
  }
  if (macro.uses_kwargs) {
    Dict rest;
    for (auto& [name, value] : keyword) {
      rest.set(name, std::move(value), Origin::Template);
    }
    parameters.push_back(runtime_.dict(std::move(rest)));
  } else if (!keyword.empty()) {
    raise_type("macro " + quote(macro.name) + " takes no keyword argument " +
               quote(keyword.front().first));
  }
  if (macro.uses_varargs) {
    const auto begin = args.positional.begin() +
                       static_cast<std::ptrdiff_t>(std::min(count, args.positional.size()));
    parameters.push_back(runtime_.tuple(List(begin, args.positional.end())));
  } else if (args.positional.size() > count) {
    raise_type("macro " + quote(macro.name) + " takes not more than " + std::to_string(count) +
               " argument(s)");
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    activation.slots[macro.parameter_slots[i]] = std::move(parameters[i]);
  }
}

Value Interpreter::call_macro(const MacroBody& macro, Activation* closure, const CallArgs& args) {
  const Runtime::Level level(runtime_);
  runtime_.budget().step();
  const bool markup = runtime_.autoescape;
  Frame frame(*this, macro.function, closure);
  Activation& activation = frame.activation();
  bind_parameters(macro, activation, args);
  enter(macro.scope, activation);
  for (std::size_t i = 0; i < macro.arguments.size(); ++i) {
    Value& slot = activation.slots[macro.parameter_slots[i]];
    if (!slot.is_missing()) {
      continue;
    }
    const std::size_t first_default = macro.arguments.size() - macro.defaults.size();
    if (i >= first_default) {
      Value value = eval(*macro.defaults[i - first_default], activation);
      activation.slots[macro.parameter_slots[i]] = std::move(value);
    } else {
      Undefined info;
      info.hint = "parameter " + quote(macro.arguments[i]) + " was not provided";
      slot = Value::undefined(std::move(info));
    }
  }
  MarkedString out;
  exec_body(macro.body, activation, out);
  return runtime_.text(std::move(out), markup);
}

}  // namespace smol::jinja
