#include "jinja/parser.h"

#include <algorithm>
#include <array>
#include <utility>

#include "jinja/text.h"

namespace smol::jinja {
namespace {

constexpr std::size_t kMaxTagNesting = 80;

}  // namespace

Parser::Parser(std::string_view normalized) : TargetParser(lex(normalized)) {}

Body Parser::parse() {
  Body body;
  parse_until(body, nullptr);
  return body;
}

void Parser::add_part(Output& output, ExprPtr part, bool is_data) {
  output.parts.push_back(std::move(part));
  output.is_data.push_back(is_data);
}

void Parser::parse_output(Output& output) {
  if (at(TokenType::Data)) {
    Token data = next();
    add_part(output,
             make(data.offset, Const{Value::string(std::move(data.text), Origin::Template)}), true);
    return;
  }
  expect(TokenType::VariableBegin);
  add_part(output, parse_tuple(), false);
  expect(TokenType::VariableEnd);
}

// Statements up to one of `ends` (left as the current token) or the end of the template.
void Parser::parse_until(Body& body, const Names* ends) {
  while (!at(TokenType::Eof)) {
    const std::size_t offset = current().offset;
    if (!at(TokenType::BlockBegin)) {
      Output output;
      while (at(TokenType::Data) || at(TokenType::VariableBegin)) {
        parse_output(output);
      }
      body.push_back(make_statement(offset, std::move(output)));
      continue;
    }
    skip();
    if (ends != nullptr && at(TokenType::Name) &&
        std::find(ends->begin(), ends->end(), current().text) != ends->end()) {
      return;
    }
    body.push_back(parse_statement());
    expect(TokenType::BlockEnd);
  }
}

Body Parser::parse_body(const Names& ends, bool drop_end) {
  skip_if(TokenType::Colon);
  expect(TokenType::BlockEnd);
  Body body;
  ends_.push_back(ends);
  parse_until(body, &ends);
  if (at(TokenType::Eof)) {
    fail_tag({}, current().offset);
  }
  ends_.pop_back();
  skip(drop_end ? 1 : 0);
  return body;
}

void Parser::fail_tag(const std::string& name, std::size_t offset) const {
  std::string message =
      name.empty() ? "Unexpected end of template." : "Encountered unknown tag " + quote(name) + ".";
  if (!ends_.empty()) {
    std::string looking;
    for (const std::string_view end : ends_.back()) {
      looking += (looking.empty() ? "" : " or ") + quote(end);
    }
    const bool expected = std::any_of(ends_.begin(), ends_.end(), [&name](const Names& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    });
    message += expected ? " You probably made a nesting mistake. Jinja is expecting this tag, but "
                          "currently looking for " +
                              looking + "."
                        : " Jinja was looking for the following tags: " + looking + ".";
  }
  if (!tags_.empty()) {
    message += " The innermost block that needs to be closed is " + quote(tags_.back()) + ".";
  }
  fail_at(message, offset);
}

Parser::Parse Parser::find_tag(std::string_view name) noexcept {
  static constexpr std::array kTags = std::to_array<std::pair<std::string_view, Parse>>({
      {"for", &Parser::parse_for},
      {"if", &Parser::parse_if},
      {"block", &Parser::parse_block},
      {"extends", &Parser::parse_extends},
      {"print", &Parser::parse_print},
      {"macro", &Parser::parse_macro},
      {"include", &Parser::parse_include},
      {"from", &Parser::parse_from},
      {"import", &Parser::parse_import},
      {"set", &Parser::parse_set},
      {"with", &Parser::parse_with},
      {"autoescape", &Parser::parse_autoescape},
      {"call", &Parser::parse_call_block},
      {"filter", &Parser::parse_filter_block},
      {"generation", &Parser::parse_generation},
      {"break", &Parser::parse_break},
      {"continue", &Parser::parse_continue},
  });
  const auto* const found = std::find_if(kTags.begin(), kTags.end(),
                                         [name](const auto& tag) { return tag.first == name; });
  return found == kTags.end() ? nullptr : found->second;
}

StatementPtr Parser::parse_statement() {
  if (!at(TokenType::Name)) {
    fail("tag name expected");
  }
  const std::string tag = current().text;
  const Parse parse_tag = find_tag(tag);
  if (parse_tag == nullptr) {
    fail_tag(tag, current().offset);
  }
  if (tags_.size() >= kMaxTagNesting) {
    fail("the template nests too deeply");
  }
  tags_.push_back(tag);
  StatementPtr statement = (this->*parse_tag)();
  tags_.pop_back();
  return statement;
}

}  // namespace smol::jinja
