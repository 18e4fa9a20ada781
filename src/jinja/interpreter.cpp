// Statements.
#include "jinja/interpreter.h"

#include <algorithm>

#include "jinja/ast_walk.h"
#include "jinja/attributes.h"
#include "jinja/fault.h"
#include "jinja/globals.h"
#include "jinja/iteration.h"
#include "jinja/macro_object.h"
#include "jinja/markup.h"
#include "jinja/names.h"
#include "jinja/objects.h"
#include "jinja/operators.h"
#include "jinja/text.h"

namespace smol::jinja {

Interpreter::~Interpreter() {
  // Macros look into activations that hold them.
  for (const auto& activation : activations_) {
    activation->slots.clear();
  }
}

void Interpreter::run() {
  runtime_.set_position(tree_.late_error_offset);
  if (!tree_.late_error.empty()) {
    raise(FaultKind::Runtime, tree_.late_error);
  }
  Activation& root = keep_activation(tree_.function, nullptr);
  if (tree_.self_slot) {
    root.slots[*tree_.self_slot] = make_template_reference(*this);
  }
  enter(tree_.scope, root);
  exec_body(tree_.body, root, output_);
}

// ---- scopes ----

Activation& Interpreter::keep_activation(const FunctionInfo& info, Activation* outer) {
  runtime_.budget().charge(info.slots + 2, sizeof(Value));
  activations_.push_back(
      std::make_unique<Activation>(Activation{outer, std::vector<Value>(info.slots)}));
  return *activations_.back();
}

Interpreter::Frame::Frame(Interpreter& interpreter, const FunctionInfo& info, Activation* outer)
    : own_{outer, {}}, activation_(&own_) {
  if (info.captured) {
    activation_ = &interpreter.keep_activation(info, outer);
  } else {
    own_.slots.resize(info.slots);
  }
}

Value& Interpreter::variable(Activation& activation, VarRef ref) {
  Activation* owner = &activation;
  for (std::uint32_t hop = 0; hop < ref.hops; ++hop) {
    owner = owner->outer;
  }
  return owner->slots[ref.slot];
}

Value Interpreter::resolve(const std::string& name) const {
  if (!scoped_.empty()) {
    if (const auto it = scoped_.back().find(name); it != scoped_.back().end()) {
      return it->second;
    }
  }
  if (const auto it = exported_.find(name); it != exported_.end()) {
    return it->second;
  }
  if (const Value* value = variables_.find(name)) {
    return *value;
  }
  const Value* global = find_global(name);
  return global == nullptr ? Value() : *global;
}

void Interpreter::enter(const Scope& scope, Activation& activation) {
  for (const Load& load : scope.loads) {
    switch (load.action) {
      case Load::Action::Parameter:
        break;
      case Load::Action::Resolve:
        activation.slots[load.slot] = resolve(load.name);
        break;
      case Load::Action::Alias:
        activation.slots[load.slot] = variable(activation, load.source);
        break;
      case Load::Action::Undefined:
        activation.slots[load.slot] = Value();
        break;
    }
  }
}

void Interpreter::leave(const Scope& scope, Activation& activation) {
  for (const Load& load : scope.loads) {
    activation.slots[load.slot] = Value();
  }
}

void Interpreter::assign(const Expr& target, Activation& activation, const Value& value) {
  if (const auto* const name = target.as<Name>()) {
    variable(activation, name->ref) = value;
    return;
  }
  if (const auto* const attribute = target.as<NamespaceRef>()) {
    const Value& object = variable(activation, attribute->ref);
    if (!is_namespace(object)) {
      runtime_.set_position(target.offset);
      raise(FaultKind::Runtime, "cannot assign attribute on non-namespace object");
    }
    set_namespace_attribute(runtime_, object, attribute->attribute, value);
    return;
  }
  const auto& targets = target.as<TupleExpr>()->items;
  runtime_.set_position(target.offset);
  if (!is_iterable(value)) {
    raise_type("cannot unpack non-iterable " + std::string(type_name(value)) + " object");
  }
  List items;
  Iteration iteration(runtime_, value);
  while (items.size() <= targets.size()) {
    auto item = iteration.next(runtime_);
    if (!item) {
      break;
    }
    items.push_back(std::move(*item));
  }
  if (items.size() > targets.size()) {
    raise_value("too many values to unpack (expected " + std::to_string(targets.size()) + ")");
  }
  if (items.size() < targets.size()) {
    raise_value("not enough values to unpack (expected " + std::to_string(targets.size()) +
                ", got " + std::to_string(items.size()) + ")");
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    assign(*targets[i], activation, items[i]);
  }
}

void Interpreter::export_target(const Expr& target, Activation& activation) {
  if (const auto* const name = target.as<Name>()) {
    exported_[name->name] = variable(activation, name->ref);
  } else if (const auto* const tuple = target.as<TupleExpr>()) {
    for (const ExprPtr& item : tuple->items) {
      export_target(*item, activation);
    }
  }
}

// ---- output ----

bool Interpreter::escapes(Escaping escaping) const noexcept {
  return escaping == Escaping::AtRuntime ? runtime_.autoescape : escaping == Escaping::On;
}

void Interpreter::check_output(const MarkedString& out) const {
  if (&out == &output_ && out.size() > runtime_.options().limits.max_output_bytes) {
    raise(FaultKind::Limit, "the rendered text is longer than its limit of " +
                                std::to_string(runtime_.options().limits.max_output_bytes) +
                                " bytes");
  }
}

void Interpreter::write(MarkedString& out, const Value& value, Escaping escaping) {
  const std::size_t before = out.size();
  if (escapes(escaping) && !value.is_markup()) {
    out.append(escape(runtime_, value).text());
  } else {
    append_text(runtime_, out, value);
  }
  runtime_.budget().charge(out.size() - before);
  check_output(out);
}

void Interpreter::exec_output(const Output& node, Activation& activation, MarkedString& out) {
  for (std::size_t i = 0; i < node.parts.size(); ++i) {
    if (node.is_data[i]) {
      const MarkedString& data = node.parts[i]->as<Const>()->value.text();
      runtime_.budget().charge(data.size());
      out.append(data);
      check_output(out);
    } else {
      const Value value = eval(*node.parts[i], activation);
      runtime_.set_position(node.parts[i]->offset);
      write(out, value, node.escaping);
    }
  }
}

// ---- statements ----

Flow Interpreter::exec_body(const Body& body, Activation& activation, MarkedString& out) {
  for (const StatementPtr& statement : body) {
    const Flow flow = exec(*statement, activation, out);
    if (flow != Flow::Normal) {
      return flow;
    }
  }
  return Flow::Normal;
}

Flow Interpreter::exec(const Statement& statement, Activation& activation, MarkedString& out) {
  runtime_.budget().step();
  const Runtime::Level level(runtime_);
  runtime_.set_position(statement.offset);
  return std::visit(
      Overload{
          [&](const Output& node) { return exec_output(node, activation, out), Flow::Normal; },
          [&](const If& node) { return exec_if(node, activation, out); },
          [&](const For& node) { return exec_for(node, activation, out); },
          [&](const Macro& node) { return exec_macro(node, activation), Flow::Normal; },
          [&](const CallBlock& node) {
            return exec_call_block(node, activation, out), Flow::Normal;
          },
          [&](const Generation& node) {
            return exec_generation(node, activation, out), Flow::Normal;
          },
          [&](const FilterBlock& node) { return exec_filter_block(node, activation, out); },
          [&](const Assign& node) { return exec_assign(node, activation), Flow::Normal; },
          [&](const AssignBlock& node) { return exec_assign_block(node, activation); },
          [&](const With& node) { return exec_with(node, activation, out); },
          [&](const Autoescape& node) { return exec_autoescape(node, activation, out); },
          [&](const Block& node) { return exec_block(node, activation, out), Flow::Normal; },
          [&](const LoaderTag& node) -> Flow { exec_loader_tag(node, activation); },
          [](const Break&) { return Flow::Break; },
          [](const Continue&) { return Flow::Continue; },
      },
      statement.node);
}

Flow Interpreter::exec_if(const If& node, Activation& activation, MarkedString& out) {
  for (const auto& [test, body] : node.branches) {
    if (truthy(runtime_, eval(*test, activation))) {
      return exec_body(body, activation, out);
    }
  }
  return exec_body(node.otherwise, activation, out);
}

void Interpreter::exec_macro(const Macro& node, Activation& activation) {
  const Value macro = make_macro(*this, node.macro, activation);
  variable(activation, node.ref) = macro;
  if (node.exported) {
    exported_[node.macro.name] = macro;
  }
}

void Interpreter::exec_generation(const Generation& node, Activation& activation,
                                  MarkedString& out) {
  const Value text = call_macro(node.macro, &activation, {});
  // Jinja2 measures from what the template has put out so far, also within captured text.
  const std::size_t begin = output_.size();
  generation_spans_.push_back({begin, begin + text.bytes().size()});
  out.append(text.text());
  check_output(out);
}

void Interpreter::exec_call_block(const CallBlock& node, Activation& activation,
                                  MarkedString& out) {
  const Value caller = make_macro(*this, node.macro, activation);
  const Value result = eval_call(*node.call->as<Call>(), *node.call, activation, &caller);
  if (!result.is_string()) {
    raise_type("sequence item 0: expected str instance, " + std::string(type_name(result)) +
               " found");
  }
  out.append(result.text());
  runtime_.budget().charge(result.bytes().size());
  check_output(out);
}

Flow Interpreter::exec_filter_block(const FilterBlock& node, Activation& activation,
                                    MarkedString& out) {
  enter(node.scope, activation);
  MarkedString body;
  const Flow flow = exec_body(node.body, activation, body);
  if (flow == Flow::Normal) {
    const Value result = eval_filter(*node.filter->as<Filter>(), *node.filter, activation, &body);
    if (!result.is_string()) {
      raise_type("sequence item 0: expected str instance, " + std::string(type_name(result)) +
                 " found");
    }
    out.append(result.text());
    check_output(out);
  }
  leave(node.scope, activation);
  return flow;
}

void Interpreter::exec_assign(const Assign& node, Activation& activation) {
  const Value value = eval(*node.value, activation);
  assign(*node.target, activation, value);
  if (node.exported) {
    export_target(*node.target, activation);
  }
}

Flow Interpreter::exec_assign_block(const AssignBlock& node, Activation& activation) {
  enter(node.scope, activation);
  MarkedString body;
  const Flow flow = exec_body(node.body, activation, body);
  if (flow == Flow::Normal) {
    Value value = node.filter
                      ? eval_filter(*node.filter->as<Filter>(), *node.filter, activation, &body)
                      : runtime_.text(std::move(body));
    value = runtime_.autoescape ? as_markup(runtime_, value) : value;
    assign(*node.target, activation, value);
    if (node.exported) {
      export_target(*node.target, activation);
    }
  }
  leave(node.scope, activation);
  return flow;
}

Flow Interpreter::exec_with(const With& node, Activation& activation, MarkedString& out) {
  enter(node.scope, activation);
  for (std::size_t i = 0; i < node.targets.size(); ++i) {
    assign(*node.targets[i], activation, eval(*node.values[i], activation));
  }
  const Flow flow = exec_body(node.body, activation, out);
  leave(node.scope, activation);
  return flow;
}

Flow Interpreter::exec_autoescape(const Autoescape& node, Activation& activation,
                                  MarkedString& out) {
  enter(node.scope, activation);
  const bool outer = runtime_.autoescape;
  runtime_.autoescape = truthy(runtime_, eval(*node.enabled, activation));
  const Flow flow = exec_body(node.body, activation, out);
  runtime_.autoescape = outer;
  leave(node.scope, activation);
  return flow;
}

void Interpreter::exec_loader_tag(const LoaderTag& node, Activation& activation) {
  eval(*node.source, activation);
  raise_type("no loader for this environment specified");
}

// ---- blocks ----

const Block* Interpreter::find_block(std::string_view name) const noexcept {
  const auto it = std::find_if(tree_.blocks.begin(), tree_.blocks.end(),
                               [name](const Block* block) { return block->name == name; });
  return it == tree_.blocks.end() ? nullptr : *it;
}

void Interpreter::exec_block(const Block& node, Activation& activation, MarkedString& out) {
  if (node.required) {
    raise(FaultKind::Runtime, "Required block " + quote(node.name) + " not found");
  }
  if (!node.scoped) {
    run_block(node, out);
    return;
  }
  std::map<std::string, Value> visible = scoped_.empty() ? exported_ : scoped_.back();
  for (const auto& [name, ref] : node.visible) {
    const Value& value = variable(activation, ref);
    if (!value.is_missing()) {
      visible[name] = value;
    }
  }
  runtime_.budget().charge(visible.size(), 2 * sizeof(Value));
  scoped_.push_back(std::move(visible));
  run_block(node, out);
  scoped_.pop_back();
}

void Interpreter::run_block(const Block& node, MarkedString& out) {
  Activation& activation = keep_activation(node.function, nullptr);
  if (node.self_slot) {
    activation.slots[*node.self_slot] = make_template_reference(*this);
  }
  if (node.super_slot) {
    Undefined info;
    info.hint = "there is no parent block called " + quote(node.name) + ".";
    activation.slots[*node.super_slot] = Value::undefined(std::move(info));
  }
  enter(node.scope, activation);
  exec_body(node.body, activation, out);
}

Value Interpreter::call_block(const std::string& name) {
  const Runtime::Level level(runtime_);
  MarkedString out;
  run_block(*find_block(name), out);
  return runtime_.text(std::move(out), runtime_.autoescape);
}

}  // namespace smol::jinja
