// The names in expressions, and what Jinja2 checks in them.
#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "jinja/ast_walk.h"
#include "jinja/resolver.h"
#include "jinja/text.h"

namespace smol::jinja {
namespace {

// `true or x`: Jinja2 folds it before it looks at x.
bool never_compiled(const Expr& expr) {
  const auto* const logic = expr.as<Logic>();
  const auto* const left = logic != nullptr ? logic->left->as<Const>() : nullptr;
  return left != nullptr && left->value.is(Value::Kind::Bool) &&
         left->value.boolean() != logic->is_and;
}

// Whether Jinja2 can compute it when it compiles: no variables, calls or filters that see them.
bool is_constant(Expr& expr) {
  static constexpr std::array<std::string_view, 6> kSeeVariables = {
      "map", "random", "reject", "rejectattr", "select", "selectattr"};
  const auto* const filter = expr.as<Filter>();
  if (expr.as<Name>() != nullptr || expr.as<NamespaceRef>() != nullptr ||
      expr.as<Call>() != nullptr ||
      (filter != nullptr && std::find(kSeeVariables.begin(), kSeeVariables.end(), filter->name) !=
                                kSeeVariables.end())) {
    return false;
  }
  bool constant = true;
  walk_children(expr, [&constant](Expr& child) { constant = constant && is_constant(child); });
  return constant;
}

void mark_slices(Expr& expr) {
  if (auto* const item = expr.as<Item>()) {
    item->folded = true;
  }
  walk_children(expr, mark_slices);
}

}  // namespace

void Resolver::fold_slices(Expr& output) {
  if (is_constant(output)) {
    mark_slices(output);
  }
}

void Resolver::resolve_all(std::vector<ExprPtr>& items, const Frame& frame) {
  walk_all(items, [&](Expr& item) { resolve_expr(item, frame); });
}

void Resolver::resolve_expr(Expr& expr, const Frame& frame) {
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
  const Frame inner = soft ? frame.softened() : frame;
  walk_children(expr, [&](Expr& child) { resolve_expr(child, inner); });
}

std::size_t Resolver::line_of(std::size_t offset) const {
  const auto after = std::lower_bound(newlines_.begin(), newlines_.end(), offset);
  return static_cast<std::size_t>(after - newlines_.begin()) + 1;
}

void Resolver::check_arguments(const Arguments& args, std::size_t offset) {
  std::set<std::string_view> names;
  for (const auto& [name, value] : args.keyword) {
    if (!names.insert(name).second) {
      late_error("keyword argument repeated: " + name, offset);
    }
  }
}

void Resolver::check_key(Expr& key) {
  if (auto* const tuple = key.as<TupleExpr>()) {
    for (const ExprPtr& item : tuple->items) {
      if (item->as<Slice>() != nullptr) {
        late_error("invalid syntax", item->offset);
      }
    }
  }
}

void Resolver::check_known(bool known, const std::string& kind, const std::string& name,
                           std::size_t offset, const Frame& frame) {
  if (!known && !frame.soft) {
    fail("No " + kind + " named " + quote(name) + ".", offset);
  }
}

}  // namespace smol::jinja
