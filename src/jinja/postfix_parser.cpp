// What follows a value: subscripts, calls, filters, tests.
#include "jinja/expr_parser.h"
#include "jinja/filters.h"
#include "jinja/tests.h"

namespace smol::jinja {

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
    return make(token.offset, Item{std::move(object), std::move(key), false});
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
  return make(token.offset, Item{std::move(object), std::move(key), false});
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
