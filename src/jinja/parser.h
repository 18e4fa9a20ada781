// Tokens -> syntax tree, by Jinja2's grammar (with the loop controls and {% generation %} of
// transformers).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jinja/ast.h"
#include "jinja/target_parser.h"

namespace smol::jinja {

// All throw SyntaxError (lexer.h).
class Parser : private TargetParser {
 public:
  // `normalized` as normalize_source() makes it; used only here.
  explicit Parser(std::string_view normalized);

  // To be called once.
  Body parse();

 private:
  using Names = std::vector<std::string_view>;
  using Parse = StatementPtr (Parser::*)();

  template <class Node>
  static StatementPtr make_statement(std::size_t offset, Node node) {
    return std::make_unique<Statement>(Statement{offset, std::move(node)});
  }

  // ---- bodies ----
  static void add_part(Output& output, ExprPtr part, bool is_data);
  void parse_output(Output& output);
  // Statements up to one of `ends` (left as the current token) or the end of the template.
  void parse_until(Body& body, const Names* ends);
  // The rest of a tag, and the statements up to one of `ends`, which is dropped if `drop_end`.
  Body parse_body(const Names& ends, bool drop_end);
  [[noreturn]] void fail_tag(const std::string& name, std::size_t offset) const;

  // ---- tags ----
  static Parse find_tag(std::string_view name) noexcept;
  StatementPtr parse_statement();
  StatementPtr parse_for();
  StatementPtr parse_if();
  StatementPtr parse_block();
  StatementPtr parse_extends();
  StatementPtr parse_include();
  StatementPtr parse_import();
  StatementPtr parse_from();
  StatementPtr parse_print();
  StatementPtr parse_set();
  StatementPtr parse_with();
  StatementPtr parse_autoescape();
  StatementPtr parse_macro();
  StatementPtr parse_call_block();
  StatementPtr parse_filter_block();
  StatementPtr parse_generation();
  StatementPtr parse_break();
  StatementPtr parse_continue();
  void skip_import_context();

  std::vector<Names> ends_;        // of the open bodies
  std::vector<std::string> tags_;  // the open ones
};

}  // namespace smol::jinja
