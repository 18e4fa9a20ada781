// One function per tag: each starts at the tag's name and leaves the stream before %}.
#include <algorithm>
#include <utility>

#include "jinja/parser.h"

namespace smol::jinja {
namespace {

bool is_blank(const StatementPtr& statement) {
  const auto* const output = statement->as<Output>();
  if (output == nullptr) {
    return false;
  }
  for (std::size_t i = 0; i < output->parts.size(); ++i) {
    const bool spaces =
        output->is_data[i] && output->parts[i]->as<Const>()->value.bytes().find_first_not_of(
                                  " \t\n\v\f") == std::string::npos;
    if (!spaces) {
      return false;
    }
  }
  return true;
}

}  // namespace

StatementPtr Parser::parse_for() {
  const std::size_t offset = next().offset;
  For node;
  node.target = parse_target(false);
  expect_name("in");
  TupleOptions options;
  options.with_conditional = false;
  node.iterable = parse_tuple(options);
  if (skip_if_name("if")) {
    node.test = parse_expression();
  }
  node.recursive = skip_if_name("recursive");
  node.body = parse_body({"endfor", "else"}, false);
  if (next().text == "else") {
    node.otherwise = parse_body({"endfor"}, true);
  }
  return make_statement(offset, std::move(node));
}

StatementPtr Parser::parse_if() {
  const std::size_t offset = next().offset;
  If node;
  TupleOptions options;
  options.with_conditional = false;
  for (;;) {
    ExprPtr test = parse_tuple(options);
    Body body = parse_body({"elif", "else", "endif"}, false);
    node.branches.emplace_back(std::move(test), std::move(body));
    const std::string end = next().text;
    if (end == "else") {
      node.otherwise = parse_body({"endif"}, true);
    }
    if (end != "elif") {
      return make_statement(offset, std::move(node));
    }
  }
}

StatementPtr Parser::parse_block() {
  const std::size_t offset = next().offset;
  Block node;
  node.name = expect(TokenType::Name).text;
  node.scoped = skip_if_name("scoped");
  node.required = skip_if_name("required");
  if (at(TokenType::Sub)) {
    fail(
        "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, "
        "use an underscore instead.");
  }
  node.body = parse_body({"endblock"}, true);
  if (node.required && !std::all_of(node.body.begin(), node.body.end(), is_blank)) {
    fail("Required blocks can only contain comments or whitespace");
  }
  skip_if_name(node.name);
  return make_statement(offset, std::move(node));
}

StatementPtr Parser::parse_extends() {
  const std::size_t offset = next().offset;
  return make_statement(offset, LoaderTag{"extends", parse_expression(), {}});
}

void Parser::skip_import_context() {
  const bool context = (at_name("with") || at_name("without")) && look().type == TokenType::Name &&
                       look().text == "context";
  skip(context ? 2 : 0);
}

StatementPtr Parser::parse_include() {
  const std::size_t offset = next().offset;
  LoaderTag node{"include", parse_expression(), {}};
  if (at_name("ignore") && look().type == TokenType::Name && look().text == "missing") {
    skip(2);
  }
  skip_import_context();
  return make_statement(offset, std::move(node));
}

StatementPtr Parser::parse_import() {
  const std::size_t offset = next().offset;
  LoaderTag node{"import", parse_expression(), {}};
  expect_name("as");
  node.names.push_back(parse_name_target().first);
  skip_import_context();
  return make_statement(offset, std::move(node));
}

StatementPtr Parser::parse_from() {
  const std::size_t offset = next().offset;
  LoaderTag node{"from", parse_expression(), {}};
  expect_name("import");
  for (bool first = true; first || at(TokenType::Comma); first = false) {
    skip(first ? 0 : 1);
    const std::size_t before = current().offset;
    skip_import_context();
    if (current().offset != before || !at(TokenType::Name)) {
      break;
    }
    const auto [name, name_offset] = parse_name_target();
    if (name.front() == '_') {
      fail_at("names starting with an underline can not be imported", name_offset);
    }
    node.names.push_back(skip_if_name("as") ? parse_name_target().first : name);
    skip_import_context();
  }
  return make_statement(offset, std::move(node));
}

StatementPtr Parser::parse_print() {
  const std::size_t offset = next().offset;
  Output node;
  while (!at(TokenType::BlockEnd)) {
    if (!node.parts.empty()) {
      expect(TokenType::Comma);
    }
    add_part(node, parse_expression(), false);
  }
  return make_statement(offset, std::move(node));
}

StatementPtr Parser::parse_set() {
  const std::size_t offset = next().offset;
  ExprPtr target = parse_target(true);
  if (skip_if(TokenType::Assign)) {
    ExprPtr value = parse_tuple();
    return make_statement(offset, Assign{std::move(target), std::move(value)});
  }
  AssignBlock node;
  node.target = std::move(target);
  node.filter = parse_filter(nullptr);
  node.body = parse_body({"endset"}, true);
  return make_statement(offset, std::move(node));
}

StatementPtr Parser::parse_with() {
  const std::size_t offset = next().offset;
  With node;
  while (!at(TokenType::BlockEnd)) {
    if (!node.targets.empty()) {
      expect(TokenType::Comma);
    }
    ExprPtr target = parse_target(false);
    set_use(*target, NameUse::Param);
    node.targets.push_back(std::move(target));
    expect(TokenType::Assign);
    node.values.push_back(parse_expression());
  }
  node.body = parse_body({"endwith"}, true);
  return make_statement(offset, std::move(node));
}

StatementPtr Parser::parse_autoescape() {
  const std::size_t offset = next().offset;
  Autoescape node;
  node.enabled = parse_expression();
  node.body = parse_body({"endautoescape"}, true);
  return make_statement(offset, std::move(node));
}

StatementPtr Parser::parse_macro() {
  const std::size_t offset = next().offset;
  Macro node;
  node.macro.name = parse_name_target().first;
  parse_signature(node.macro);
  node.macro.body = parse_body({"endmacro"}, true);
  return make_statement(offset, std::move(node));
}

StatementPtr Parser::parse_call_block() {
  const std::size_t offset = next().offset;
  CallBlock node;
  if (at(TokenType::LParen)) {
    parse_signature(node.macro);
  }
  node.call = parse_expression();
  if (node.call->as<Call>() == nullptr) {
    fail_at("expected call", offset);
  }
  node.macro.body = parse_body({"endcall"}, true);
  return make_statement(offset, std::move(node));
}

StatementPtr Parser::parse_filter_block() {
  const std::size_t offset = next().offset;
  FilterBlock node;
  node.filter = parse_filter(nullptr, true);
  node.body = parse_body({"endfilter"}, true);
  return make_statement(offset, std::move(node));
}

StatementPtr Parser::parse_generation() {
  const std::size_t offset = next().offset;
  Generation node;
  node.macro.body = parse_body({"endgeneration"}, true);
  return make_statement(offset, std::move(node));
}

StatementPtr Parser::parse_break() {
  return make_statement(next().offset, Break{});
}

StatementPtr Parser::parse_continue() {
  return make_statement(next().offset, Continue{});
}

}  // namespace smol::jinja
