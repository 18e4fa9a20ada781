#include "jinja/expr_parser.h"

#include <algorithm>
#include <optional>

#include "jinja/ast_walk.h"
#include "jinja/filters.h"
#include "jinja/tests.h"
#include "jinja/text.h"

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

// ---- tokens ----

void ExprParser::check_error() const {
  // The lexer stopped here: the tokens before were good, so its error is the next thing to report.
  if (at_ >= source_.tokens.size()) {
    throw source_.error.front();
  }
}

const Token& ExprParser::look() const {
  const std::size_t after = std::min(at_ + 1, source_.tokens.size());
  if (after < source_.tokens.size()) {
    return source_.tokens[after];
  }
  if (!source_.error.empty()) {
    throw source_.error.front();
  }
  return source_.tokens.back();
}

Token ExprParser::next() {
  Token token = current();
  skip();
  return token;
}

void ExprParser::skip(std::size_t count) {
  for (; count > 0 && !at(TokenType::Eof); --count) {
    ++at_;
    check_error();
  }
}

bool ExprParser::skip_if(TokenType type) {
  const bool here = at(type);
  skip(here ? 1 : 0);
  return here;
}

bool ExprParser::skip_if_name(std::string_view name) {
  const bool here = at_name(name);
  skip(here ? 1 : 0);
  return here;
}

void ExprParser::fail_expected(const std::string& expected) const {
  if (at(TokenType::Eof)) {
    fail("unexpected end of template, expected " + quote(expected) + ".");
  }
  fail("expected token " + quote(expected) + ", got " + quote(describe(current())));
}

Token ExprParser::expect(TokenType type) {
  if (!at(type)) {
    fail_expected(describe(type));
  }
  return next();
}

Token ExprParser::expect_name(std::string_view name) {
  if (!at_name(name)) {
    fail_expected(std::string(name));
  }
  return next();
}

void ExprParser::fail(const std::string& message) const {
  fail_at(message, current().offset);
}

void ExprParser::fail_at(const std::string& message, std::size_t offset) {
  throw SyntaxError{message, offset};
}

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

// ---- operators ----

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

ExprPtr ExprParser::parse_postfix(ExprPtr expr) {
  for (;;) {
    if (at(TokenType::Dot) || at(TokenType::LBracket)) {
      expr = parse_subscript(std::move(expr));
    } else if (at(TokenType::LParen)) {
      expr = parse_call(std::move(expr));
    } else {
      return expr;
    }
  }
}

ExprPtr ExprParser::parse_filters_and_tests(ExprPtr expr) {
  for (;;) {
    if (at(TokenType::Pipe)) {
      expr = parse_filter(std::move(expr));
    } else if (at_name("is")) {
      expr = parse_test(std::move(expr));
    } else if (at(TokenType::LParen)) {
      expr = parse_call(std::move(expr));
    } else {
      return expr;
    }
  }
}

ExprPtr ExprParser::parse_subscript(ExprPtr object) {
  const Token token = next();
  if (token.type == TokenType::Dot) {
    const Token attribute = next();
    if (attribute.type == TokenType::Name) {
      return make(token.offset, Attribute{std::move(object), attribute.text});
    }
    if (attribute.type != TokenType::Integer) {
      fail_at("expected name or number", attribute.offset);
    }
    ExprPtr key = make(attribute.offset, Const{attribute.number});
    return make(token.offset, Item{std::move(object), std::move(key)});
  }
  std::vector<ExprPtr> keys;
  while (!at(TokenType::RBracket)) {
    if (!keys.empty()) {
      expect(TokenType::Comma);
    }
    keys.push_back(parse_slice());
  }
  expect(TokenType::RBracket);
  ExprPtr key =
      keys.size() == 1 ? std::move(keys.front()) : make(token.offset, TupleExpr{std::move(keys)});
  return make(token.offset, Item{std::move(object), std::move(key)});
}

ExprPtr ExprParser::parse_slice() {
  const std::size_t offset = current().offset;
  const auto at_end = [this] { return at(TokenType::RBracket) || at(TokenType::Comma); };
  ExprPtr start;
  if (!skip_if(TokenType::Colon)) {
    start = parse_expression();
    if (!skip_if(TokenType::Colon)) {
      return start;
    }
  }
  ExprPtr stop = at(TokenType::Colon) || at_end() ? nullptr : parse_expression();
  ExprPtr step;
  if (skip_if(TokenType::Colon) && !at_end()) {
    step = parse_expression();
  }
  return make(offset, Slice{std::move(start), std::move(stop), std::move(step)});
}

ExprPtr ExprParser::parse_call(ExprPtr callee) {
  const std::size_t offset = current().offset;
  Arguments args = parse_arguments();
  return make(offset, Call{std::move(callee), std::move(args)});
}

Arguments ExprParser::parse_arguments() {
  const std::size_t offset = expect(TokenType::LParen).offset;
  Arguments args;
  const auto ensure = [offset](bool allowed) {
    if (!allowed) {
      fail_at("invalid syntax for function call expression", offset);
    }
  };
  bool first = true;
  while (!at(TokenType::RParen)) {
    if (!first) {
      expect(TokenType::Comma);
      if (at(TokenType::RParen)) {
        break;
      }
    }
    first = false;
    if (skip_if(TokenType::Mul)) {
      ensure(!args.more_positional && !args.more_keyword);
      args.more_positional = parse_expression();
    } else if (skip_if(TokenType::Pow)) {
      ensure(!args.more_keyword);
      args.more_keyword = parse_expression();
    } else if (at(TokenType::Name) && look().type == TokenType::Assign) {
      ensure(!args.more_keyword);
      std::string key = current().text;
      skip(2);
      args.keyword.emplace_back(std::move(key), parse_expression());
    } else {
      ensure(!args.more_positional && !args.more_keyword && args.keyword.empty());
      args.positional.push_back(parse_expression());
    }
  }
  expect(TokenType::RParen);
  return args;
}

std::string ExprParser::parse_dotted_name() {
  std::string name = expect(TokenType::Name).text;
  while (skip_if(TokenType::Dot)) {
    name += "." + expect(TokenType::Name).text;
  }
  return name;
}

ExprPtr ExprParser::parse_filter(ExprPtr input, bool inline_start) {
  while (at(TokenType::Pipe) || inline_start) {
    if (!inline_start) {
      skip();
    }
    inline_start = false;
    const std::size_t offset = current().offset;
    std::string name = parse_dotted_name();
    Arguments args = at(TokenType::LParen) ? parse_arguments() : Arguments{};
    const FilterFunction function = find_filter(name);
    input = make(offset, Filter{std::move(input), std::move(name), function, std::move(args)});
  }
  return input;
}

ExprPtr ExprParser::parse_test(ExprPtr input) {
  const std::size_t offset = next().offset;
  const bool negated = skip_if_name("not");
  std::string name = parse_dotted_name();
  Arguments args;
  const bool starts_argument = at(TokenType::Name) || at(TokenType::String) ||
                               at(TokenType::Integer) || at(TokenType::Float) ||
                               at(TokenType::LBracket) || at(TokenType::LBrace);
  if (at(TokenType::LParen)) {
    args = parse_arguments();
  } else if (starts_argument && !at_name("else") && !at_name("or") && !at_name("and")) {
    if (at_name("is")) {
      fail("You cannot chain multiple tests with is");
    }
    ExprPtr argument = parse_primary();
    args.positional.push_back(parse_postfix(std::move(argument)));
  }
  const TestFunction function = find_test(name);
  ExprPtr test = make(offset, Test{std::move(input), std::move(name), function, std::move(args)});
  return negated ? make(offset, Unary{Unary::Op::Not, std::move(test)}) : std::move(test);
}

}  // namespace smol::jinja
