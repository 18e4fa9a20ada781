#include "jinja/target_parser.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "jinja/text.h"

namespace smol::jinja {
namespace {

bool is_constant_name(std::string_view name) noexcept {
  return name == "true" || name == "false" || name == "none" || name == "True" || name == "False" ||
         name == "None";
}

bool can_assign(const Expr& target) {
  if (const auto* const tuple = target.as<TupleExpr>()) {
    return std::all_of(tuple->items.begin(), tuple->items.end(),
                       [](const ExprPtr& item) { return can_assign(*item); });
  }
  return target.as<Name>() != nullptr || target.as<NamespaceRef>() != nullptr;
}

std::string_view node_name(const Expr& expr) noexcept {
  static constexpr std::array<std::string_view, 18> kNames = {
      "const",  "name",    "nsref",    "tuple",   "list",    "dict",  "neg",  "add",    "and",
      "concat", "compare", "condexpr", "getattr", "getitem", "slice", "call", "filter", "test"};
  return kNames[expr.node.index()];
}

}  // namespace

std::pair<std::string, std::size_t> TargetParser::parse_name_target() {
  Token token = expect(TokenType::Name);
  if (is_constant_name(token.text)) {
    fail_at("can't assign to 'name'", token.offset);
  }
  return {std::move(token.text), token.offset};
}

void TargetParser::set_use(Expr& target, NameUse use) {
  if (auto* const name = target.as<Name>()) {
    name->use = use;
  } else if (auto* const tuple = target.as<TupleExpr>()) {
    for (ExprPtr& item : tuple->items) {
      set_use(*item, use);
    }
  }
}

ExprPtr TargetParser::parse_target(bool with_namespace) {
  TupleOptions options;
  options.simplified = true;
  options.with_namespace = with_namespace;
  ExprPtr target = parse_tuple(options);
  if (!can_assign(*target)) {
    fail_at("can't assign to " + quote(node_name(*target)), target->offset);
  }
  set_use(*target, NameUse::Store);
  return target;
}

void TargetParser::parse_signature(MacroBody& macro) {
  expect(TokenType::LParen);
  while (!at(TokenType::RParen)) {
    if (!macro.arguments.empty()) {
      expect(TokenType::Comma);
    }
    const auto [name, offset] = parse_name_target();
    if (skip_if(TokenType::Assign)) {
      macro.defaults.push_back(parse_expression());
    } else if (!macro.defaults.empty()) {
      fail("non-default argument follows default argument");
    }
    macro.arguments.push_back(name);
    macro.targets.push_back(make(offset, Name{name, NameUse::Param, {}}));
  }
  expect(TokenType::RParen);
}

}  // namespace smol::jinja
