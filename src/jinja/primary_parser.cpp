// Names, literals, tuples, lists and dicts.
#include "jinja/expr_parser.h"
#include "jinja/text.h"

namespace smol::jinja {

ExprPtr ExprParser::parse_primary(bool with_namespace) {
  const Nesting nesting(*this);
  const Token& token = current();
  switch (token.type) {
    case TokenType::Name:
      return parse_name(with_namespace);
    case TokenType::String:
      return parse_string();
    case TokenType::Integer:
    case TokenType::Float: {
      const Token number = next();
      return make(number.offset, Const{number.number});
    }
    case TokenType::LParen: {
      skip();
      TupleOptions options;
      options.explicit_parentheses = true;
      ExprPtr inner = parse_tuple(options);
      expect(TokenType::RParen);
      return inner;
    }
    case TokenType::LBracket:
      return parse_list();
    case TokenType::LBrace:
      return parse_dict();
    default:
      fail("unexpected " + quote(describe(token)));
  }
}

ExprPtr ExprParser::parse_name(bool with_namespace) {
  const Token token = next();
  if (token.text == "true" || token.text == "True") {
    return make(token.offset, Const{Value::boolean(true)});
  }
  if (token.text == "false" || token.text == "False") {
    return make(token.offset, Const{Value::boolean(false)});
  }
  if (token.text == "none" || token.text == "None") {
    return make(token.offset, Const{Value::none()});
  }
  if (with_namespace && skip_if(TokenType::Dot)) {
    return make(token.offset, NamespaceRef{token.text, expect(TokenType::Name).text, {}});
  }
  return make(token.offset, Name{token.text, NameUse::Load, {}});
}

ExprPtr ExprParser::parse_string() {
  const std::size_t offset = current().offset;
  std::string text;
  while (at(TokenType::String)) {
    text += next().text;
  }
  return make(offset, Const{Value::string(std::move(text), Origin::Template)});
}

ExprPtr ExprParser::parse_list() {
  const std::size_t offset = expect(TokenType::LBracket).offset;
  std::vector<ExprPtr> items;
  while (!at(TokenType::RBracket)) {
    if (!items.empty()) {
      expect(TokenType::Comma);
      if (at(TokenType::RBracket)) {
        break;
      }
    }
    items.push_back(parse_expression());
  }
  expect(TokenType::RBracket);
  return make(offset, ListExpr{std::move(items)});
}

ExprPtr ExprParser::parse_dict() {
  const std::size_t offset = expect(TokenType::LBrace).offset;
  std::vector<std::pair<ExprPtr, ExprPtr>> items;
  while (!at(TokenType::RBrace)) {
    if (!items.empty()) {
      expect(TokenType::Comma);
      if (at(TokenType::RBrace)) {
        break;
      }
    }
    ExprPtr key = parse_expression();
    expect(TokenType::Colon);
    items.emplace_back(std::move(key), parse_expression());
  }
  expect(TokenType::RBrace);
  return make(offset, DictExpr{std::move(items)});
}

bool ExprParser::is_tuple_end() const noexcept {
  return at(TokenType::VariableEnd) || at(TokenType::BlockEnd) || at(TokenType::RParen);
}

ExprPtr ExprParser::parse_tuple(const TupleOptions& options) {
  const std::size_t offset = current().offset;
  std::vector<ExprPtr> items;
  bool is_tuple = false;
  for (;;) {
    if (!items.empty()) {
      expect(TokenType::Comma);
    }
    if (is_tuple_end()) {
      break;
    }
    items.push_back(options.simplified ? parse_primary(options.with_namespace)
                                       : parse_expression(options.with_conditional));
    if (!at(TokenType::Comma)) {
      break;
    }
    is_tuple = true;
  }
  if (!is_tuple && !items.empty()) {
    return std::move(items.front());
  }
  if (!is_tuple && !options.explicit_parentheses) {
    fail("Expected an expression, got " + quote(describe(current())));
  }
  return make(offset, TupleExpr{std::move(items)});
}

}  // namespace smol::jinja
