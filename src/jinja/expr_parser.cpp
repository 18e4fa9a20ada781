// Operators, by their precedence.
#include "jinja/expr_parser.h"

#include <algorithm>
#include <optional>

#include "jinja/ast_walk.h"

namespace smol::jinja {
namespace {

constexpr std::size_t kMaxGrammarNesting = 400;
constexpr std::uint32_t kMaxExprDepth = 150;

std::optional<CompareOp> compare_op(TokenType type) noexcept {
  switch (type) {
    case TokenType::Eq:
      return CompareOp::Equal;
    case TokenType::Ne:
      return CompareOp::NotEqual;
    case TokenType::Lt:
      return CompareOp::Less;
    case TokenType::LtEq:
      return CompareOp::LessEqual;
    case TokenType::Gt:
      return CompareOp::Greater;
    case TokenType::GtEq:
      return CompareOp::GreaterEqual;
    default:
      return std::nullopt;
  }
}

std::optional<BinaryOp> product_op(TokenType type) noexcept {
  switch (type) {
    case TokenType::Mul:
      return BinaryOp::Mul;
    case TokenType::Div:
      return BinaryOp::Div;
    case TokenType::FloorDiv:
      return BinaryOp::FloorDiv;
    case TokenType::Mod:
      return BinaryOp::Mod;
    default:
      return std::nullopt;
  }
}

}  // namespace

void ExprParser::enter() {
  if (++nesting_ > kMaxGrammarNesting) {
    fail("the template nests too deeply");
  }
}

void ExprParser::set_depth(Expr& expr) const {
  walk_children(expr, [&](Expr& child) { expr.depth = std::max(expr.depth, child.depth + 1); });
  if (expr.depth > kMaxExprDepth) {
    fail_at("the expression nests too deeply", expr.offset);
  }
}

ExprPtr ExprParser::parse_expression(bool with_conditional) {
  return with_conditional ? parse_conditional() : parse_or();
}

ExprPtr ExprParser::parse_conditional() {
  const Nesting nesting(*this);
  const std::size_t offset = current().offset;
  ExprPtr then = parse_or();
  while (skip_if_name("if")) {
    ExprPtr test = parse_or();
    ExprPtr otherwise = skip_if_name("else") ? parse_conditional() : nullptr;
    then = make(offset, Conditional{std::move(test), std::move(then), std::move(otherwise), 0});
  }
  return then;
}

ExprPtr ExprParser::parse_or() {
  ExprPtr left = parse_and();
  while (at_name("or")) {
    const std::size_t offset = next().offset;
    ExprPtr right = parse_and();
    left = make(offset, Logic{false, std::move(left), std::move(right)});
  }
  return left;
}

ExprPtr ExprParser::parse_and() {
  ExprPtr left = parse_not();
  while (at_name("and")) {
    const std::size_t offset = next().offset;
    ExprPtr right = parse_not();
    left = make(offset, Logic{true, std::move(left), std::move(right)});
  }
  return left;
}

ExprPtr ExprParser::parse_not() {
  if (!at_name("not")) {
    return parse_compare();
  }
  const Nesting nesting(*this);
  const std::size_t offset = next().offset;
  return make(offset, Unary{Unary::Op::Not, parse_not()});
}

ExprPtr ExprParser::parse_compare() {
  ExprPtr first = parse_sum();
  const std::size_t offset = current().offset;
  std::vector<std::pair<CompareOp, ExprPtr>> rest;
  for (;;) {
    if (const auto op = compare_op(current().type)) {
      skip();
      rest.emplace_back(*op, parse_sum());
    } else if (skip_if_name("in")) {
      rest.emplace_back(CompareOp::In, parse_sum());
    } else if (at_name("not") && look().type == TokenType::Name && look().text == "in") {
      skip(2);
      rest.emplace_back(CompareOp::NotIn, parse_sum());
    } else {
      break;
    }
  }
  return rest.empty() ? std::move(first) : make(offset, Compare{std::move(first), std::move(rest)});
}

ExprPtr ExprParser::parse_sum() {
  ExprPtr left = parse_concat();
  while (at(TokenType::Add) || at(TokenType::Sub)) {
    const Token token = next();
    ExprPtr right = parse_concat();
    const BinaryOp op = token.type == TokenType::Add ? BinaryOp::Add : BinaryOp::Sub;
    left = make(token.offset, Binary{op, std::move(left), std::move(right)});
  }
  return left;
}

ExprPtr ExprParser::parse_concat() {
  std::vector<ExprPtr> items;
  items.push_back(parse_product());
  const std::size_t offset = current().offset;
  while (skip_if(TokenType::Tilde)) {
    items.push_back(parse_product());
  }
  return items.size() == 1 ? std::move(items.front()) : make(offset, Concat{std::move(items)});
}

ExprPtr ExprParser::parse_product() {
  ExprPtr left = parse_power();
  while (const auto op = product_op(current().type)) {
    const std::size_t offset = next().offset;
    ExprPtr right = parse_power();
    left = make(offset, Binary{*op, std::move(left), std::move(right)});
  }
  return left;
}

ExprPtr ExprParser::parse_power() {
  ExprPtr left = parse_unary();
  while (at(TokenType::Pow)) {
    const std::size_t offset = next().offset;
    ExprPtr right = parse_unary();
    left = make(offset, Binary{BinaryOp::Pow, std::move(left), std::move(right)});
  }
  return left;
}

ExprPtr ExprParser::parse_unary(bool with_filter) {
  const Nesting nesting(*this);
  const std::size_t offset = current().offset;
  ExprPtr expr;
  if (skip_if(TokenType::Sub)) {
    expr = make(offset, Unary{Unary::Op::Minus, parse_unary(false)});
  } else if (skip_if(TokenType::Add)) {
    expr = make(offset, Unary{Unary::Op::Plus, parse_unary(false)});
  } else {
    expr = parse_primary();
  }
  expr = parse_postfix(std::move(expr));
  return with_filter ? parse_filters_and_tests(std::move(expr)) : std::move(expr);
}

}  // namespace smol::jinja
