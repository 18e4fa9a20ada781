#include "jinja/token_stream.h"

#include <algorithm>

#include "jinja/text.h"

namespace smol::jinja {

void TokenStream::check_error() const {
  // The lexer stopped here: the tokens before were good, so its error is the next thing to report.
  if (at_ >= source_.tokens.size()) {
    throw source_.error.front();
  }
}

const Token& TokenStream::look() const {
  const std::size_t after = std::min(at_ + 1, source_.tokens.size());
  if (after < source_.tokens.size()) {
    return source_.tokens[after];
  }
  if (!source_.error.empty()) {
    throw source_.error.front();
  }
  return source_.tokens.back();
}

Token TokenStream::next() {
  Token token = current();
  skip();
  return token;
}

void TokenStream::skip(std::size_t count) {
  for (; count > 0 && !at(TokenType::Eof); --count) {
    ++at_;
    check_error();
  }
}

bool TokenStream::skip_if(TokenType type) {
  const bool here = at(type);
  skip(here ? 1 : 0);
  return here;
}

bool TokenStream::skip_if_name(std::string_view name) {
  const bool here = at_name(name);
  skip(here ? 1 : 0);
  return here;
}

void TokenStream::fail_expected(const std::string& expected) const {
  if (at(TokenType::Eof)) {
    fail("unexpected end of template, expected " + quote(expected) + ".");
  }
  fail("expected token " + quote(expected) + ", got " + quote(describe(current())));
}

Token TokenStream::expect(TokenType type) {
  if (!at(type)) {
    fail_expected(describe(type));
  }
  return next();
}

Token TokenStream::expect_name(std::string_view name) {
  if (!at_name(name)) {
    fail_expected(std::string(name));
  }
  return next();
}

void TokenStream::fail(const std::string& message) const {
  fail_at(message, current().offset);
}

void TokenStream::fail_at(const std::string& message, std::size_t offset) {
  throw SyntaxError{message, offset};
}

}  // namespace smol::jinja
