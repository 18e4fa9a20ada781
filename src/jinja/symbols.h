// Jinja2's scoping, as its idtracking module decides it: which variable a name means in which
// scope, and what a scope's variables hold when it is entered.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jinja/ast.h"

namespace smol::jinja {

// One function of the compiled template: the root, a block, a macro, a call block's body, a
// recursive loop.
class FunctionScope {
 public:
  explicit FunctionScope(FunctionScope* parent) : depth_(parent ? parent->depth_ + 1 : 0) {
    if (parent != nullptr) {
      parent->info_.captured = true;
    }
  }

  // The slot of `name` in scopes of this level: siblings share it, as they never live at the same
  // time.
  std::uint32_t slot(std::uint32_t level, const std::string& name);

  std::uint32_t depth() const noexcept { return depth_; }

  const FunctionInfo& info() const noexcept { return info_; }

 private:
  std::uint32_t depth_;
  FunctionInfo info_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> slots_;
};

struct SymbolRef {
  const FunctionScope* function;
  std::uint32_t slot;
};

class Symbols {
 public:
  Symbols(const Symbols* parent, FunctionScope& function)
      : parent_(parent), level_(parent ? parent->level_ + 1 : 0), function_(&function) {}

  // A branch of an if statement: sees what `base` has and keeps apart what it adds.
  static Symbols branch_of(const Symbols& base);

  void load(const std::string& name);
  void store(const std::string& name);
  std::uint32_t declare_parameter(const std::string& name);
  // Takes over what the branches (branch_of this one, visited one by one) did.
  void branch_update(const std::vector<Symbols>& branches);

  std::optional<SymbolRef> find(const std::string& name) const;
  // As seen from code of this scope's function.
  VarRef ref(const std::string& name) const;
  VarRef relative(const SymbolRef& symbol) const;
  Scope scope() const;
  // Every name that this scope or an outer one assigns, with its variable.
  std::vector<std::pair<std::string, VarRef>> visible_stores() const;

 private:
  struct LoadInfo {
    Load::Action action;
    std::optional<SymbolRef> source;
    std::string name;
  };

  void define(const std::string& name, LoadInfo load);
  std::optional<std::uint32_t> own_slot(const std::string& name) const;
  bool stores(const std::string& name) const;

  const Symbols* parent_;
  const Symbols* base_ = nullptr;
  std::uint32_t level_;
  FunctionScope* function_;
  std::map<std::string, std::uint32_t> refs_;
  std::map<std::uint32_t, LoadInfo> loads_;  // by slot
  std::set<std::string> stores_;
};

// What a name visitor sees in the statements of one scope, in Jinja2's order.
void analyze_expr(Symbols& symbols, Expr& expr, bool store_as_parameter = false);
void analyze_statement(Symbols& symbols, Statement& statement);
void analyze_body(Symbols& symbols, Body& body);

// Those of `names` that the statements read without assigning them first.
std::set<std::string> find_undeclared(Body& body, std::set<std::string> names);

}  // namespace smol::jinja
