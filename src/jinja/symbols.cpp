#include "jinja/symbols.h"

#include "base/check.h"
#include "jinja/ast_walk.h"

namespace smol::jinja {

std::uint32_t FunctionScope::slot(std::uint32_t level, const std::string& name) {
  const auto [it, added] = slots_.emplace(std::pair(level, name), info_.slots);
  info_.slots += added ? 1 : 0;
  return it->second;
}

void Symbols::define(const std::string& name, LoadInfo load) {
  const std::uint32_t slot = function_->slot(level_, name);
  refs_[name] = slot;
  loads_[slot] = std::move(load);
}

Symbols Symbols::branch_of(const Symbols& base) {
  Symbols branch(base.parent_, *base.function_);
  branch.base_ = &base;
  return branch;
}

std::optional<std::uint32_t> Symbols::own_slot(const std::string& name) const {
  for (const Symbols* layer = this; layer != nullptr; layer = layer->base_) {
    if (const auto it = layer->refs_.find(name); it != layer->refs_.end()) {
      return it->second;
    }
  }
  return std::nullopt;
}

bool Symbols::stores(const std::string& name) const {
  return stores_.contains(name) || (base_ != nullptr && base_->stores(name));
}

std::optional<SymbolRef> Symbols::find(const std::string& name) const {
  for (const Symbols* scope = this; scope != nullptr; scope = scope->parent_) {
    if (const auto slot = scope->own_slot(name)) {
      return SymbolRef{scope->function_, *slot};
    }
  }
  return std::nullopt;
}

void Symbols::load(const std::string& name) {
  if (!find(name)) {
    define(name, {Load::Action::Resolve, std::nullopt, name});
  }
}

void Symbols::store(const std::string& name) {
  stores_.insert(name);
  if (own_slot(name)) {
    return;
  }
  const auto outer = parent_ != nullptr ? parent_->find(name) : std::nullopt;
  define(name, {outer ? Load::Action::Alias : Load::Action::Undefined, outer, name});
}

std::uint32_t Symbols::declare_parameter(const std::string& name) {
  stores_.insert(name);
  define(name, {Load::Action::Parameter, std::nullopt, name});
  return refs_.at(name);
}

void Symbols::branch_update(const std::vector<Symbols>& branches) {
  std::set<std::string> stored;
  for (const Symbols& branch : branches) {
    for (const std::string& name : branch.stores_) {
      if (!stores(name)) {
        stored.insert(name);
      }
    }
  }
  for (const Symbols& branch : branches) {
    for (const auto& [name, slot] : branch.refs_) {
      refs_[name] = slot;
    }
    for (const auto& [slot, load] : branch.loads_) {
      loads_[slot] = load;
    }
    stores_.insert(branch.stores_.begin(), branch.stores_.end());
  }
  // Assigned in a branch only: before that the name means what it means outside.
  for (const std::string& name : stored) {
    const auto outer = parent_ != nullptr ? parent_->find(name) : std::nullopt;
    loads_[*own_slot(name)] = {outer ? Load::Action::Alias : Load::Action::Resolve, outer, name};
  }
}

VarRef Symbols::relative(const SymbolRef& symbol) const {
  return {function_->depth() - symbol.function->depth(), symbol.slot};
}

VarRef Symbols::ref(const std::string& name) const {
  const auto symbol = find(name);
  SMOL_CHECK(symbol.has_value());
  return relative(*symbol);
}

Scope Symbols::scope() const {
  Scope scope;
  for (const auto& [slot, load] : loads_) {
    scope.loads.push_back(
        {load.action, slot, load.source ? relative(*load.source) : VarRef{}, load.name});
  }
  return scope;
}

std::vector<std::pair<std::string, VarRef>> Symbols::visible_stores() const {
  std::map<std::string, VarRef> visible;
  for (const Symbols* scope = this; scope != nullptr; scope = scope->parent_) {
    for (const std::string& name : scope->stores_) {
      visible.emplace(name, ref(name));
    }
  }
  return {visible.begin(), visible.end()};
}

void analyze_expr(Symbols& symbols, Expr& expr, bool store_as_parameter) {
  if (auto* const name = expr.as<Name>()) {
    if (store_as_parameter || name->use == NameUse::Param) {
      symbols.declare_parameter(name->name);
    } else if (name->use == NameUse::Store) {
      symbols.store(name->name);
    } else {
      symbols.load(name->name);
    }
    return;
  }
  if (auto* const target = expr.as<NamespaceRef>()) {
    symbols.load(target->name);
    return;
  }
  walk_children(expr, [&](Expr& child) { analyze_expr(symbols, child, store_as_parameter); });
}

namespace {

void analyze_if(Symbols& symbols, If& node) {
  // Jinja keeps the first branch, then all elifs as one list, then else.
  analyze_expr(symbols, *node.branches.front().first);
  std::vector<Symbols> branches(3, Symbols::branch_of(symbols));
  analyze_body(branches[0], node.branches.front().second);
  for (std::size_t i = 1; i < node.branches.size(); ++i) {
    // Each elif is an if statement of its own, without an else.
    analyze_expr(branches[1], *node.branches[i].first);
    std::vector<Symbols> inner(1, Symbols::branch_of(branches[1]));
    analyze_body(inner.front(), node.branches[i].second);
    branches[1].branch_update(inner);
  }
  analyze_body(branches[2], node.otherwise);
  symbols.branch_update(branches);
}

}  // namespace

void analyze_body(Symbols& symbols, Body& body) {
  for (StatementPtr& statement : body) {
    analyze_statement(symbols, *statement);
  }
}

void analyze_statement(Symbols& symbols, Statement& statement) {
  std::visit(Overload{
                 [&](Output& node) {
                   walk_all(node.parts, [&](Expr& part) { analyze_expr(symbols, part); });
                 },
                 [&](If& node) { analyze_if(symbols, node); },
                 [&](For& node) { analyze_expr(symbols, *node.iterable); },
                 [&](Macro& node) { symbols.store(node.macro.name); },
                 [&](CallBlock& node) { analyze_expr(symbols, *node.call); },
                 [](Generation&) {},
                 [&](FilterBlock& node) { analyze_expr(symbols, *node.filter); },
                 [&](Assign& node) {
                   analyze_expr(symbols, *node.value);
                   analyze_expr(symbols, *node.target);
                 },
                 [&](AssignBlock& node) { analyze_expr(symbols, *node.target); },
                 [&](With& node) {
                   walk_all(node.values, [&](Expr& value) { analyze_expr(symbols, value); });
                 },
                 [](Autoescape&) {},
                 [](Block&) {},
                 [&](LoaderTag& node) {
                   analyze_expr(symbols, *node.source);
                   for (const std::string& name : node.names) {
                     symbols.store(name);
                   }
                 },
                 [](Break&) {},
                 [](Continue&) {},
             },
             statement.node);
}

namespace {

class UndeclaredFinder {
 public:
  explicit UndeclaredFinder(std::set<std::string> names) : names_(std::move(names)) {}

  void visit(Expr& expr) {
    if (const auto* const name = expr.as<Name>()) {
      if (name->use == NameUse::Load && names_.contains(name->name)) {
        found_.insert(name->name);
      } else {
        names_.erase(name->name);
      }
      return;
    }
    walk_children(expr, [this](Expr& child) { visit(child); });
  }

  void visit(Statement& statement) {
    if (statement.as<Block>() == nullptr) {
      walk_statement(
          statement, [this](Expr& child) { visit(child); },
          [this](Statement& child) { visit(child); });
    }
  }

  const std::set<std::string>& found() const noexcept { return found_; }

 private:
  std::set<std::string> names_, found_;
};

}  // namespace

std::set<std::string> find_undeclared(Body& body, std::set<std::string> names) {
  UndeclaredFinder finder(std::move(names));
  for (StatementPtr& statement : body) {
    finder.visit(*statement);
  }
  return finder.found();
}

}  // namespace smol::jinja
