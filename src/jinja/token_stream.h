// The tokens of a template as its parser reads them: one current token, one more to look at.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "jinja/lexer.h"

namespace smol::jinja {

// Reaching the place where the lexer stopped throws the lexer's error; the other failures throw
// SyntaxError at the current token.
class TokenStream {
 protected:
  explicit TokenStream(LexedSource source) : source_(std::move(source)) { check_error(); }

  const Token& current() const noexcept { return source_.tokens[at_]; }

  const Token& look() const;  // the one after
  Token next();
  void skip(std::size_t count = 1);

  bool at(TokenType type) const noexcept { return current().type == type; }

  bool at_name(std::string_view name) const noexcept {
    return at(TokenType::Name) && current().text == name;
  }

  bool skip_if(TokenType type);
  bool skip_if_name(std::string_view name);
  Token expect(TokenType type);
  Token expect_name(std::string_view name);
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] static void fail_at(const std::string& message, std::size_t offset);

 private:
  void check_error() const;
  [[noreturn]] void fail_expected(const std::string& expected) const;

  LexedSource source_;
  std::size_t at_ = 0;
};

}  // namespace smol::jinja
