// Template source -> tokens, with Jinja2's whitespace control (trim_blocks and lstrip_blocks on,
// one trailing newline removed).
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/value.h"

namespace smol::jinja {

enum class TokenType {
  Add,
  Assign,
  Colon,
  Comma,
  Div,
  Dot,
  Eq,
  FloorDiv,
  Gt,
  GtEq,
  LBrace,
  LBracket,
  LParen,
  Lt,
  LtEq,
  Mod,
  Mul,
  Ne,
  Pipe,
  Pow,
  RBrace,
  RBracket,
  RParen,
  Semicolon,
  Sub,
  Tilde,
  Float,
  Integer,
  Name,
  String,
  BlockBegin,
  BlockEnd,
  VariableBegin,
  VariableEnd,
  Data,
  Eof,
};

struct Token {
  TokenType type;
  std::size_t offset;  // into the normalized source
  std::string text;    // a name, the value of a string, template data
  Value number;
};

// A template that cannot be parsed.
struct SyntaxError {
  std::string message;
  std::size_t offset;
};

struct LexedSource {
  std::vector<Token> tokens;  // ends with Eof
  // Where the lexer gave up (the tokens before it are good): thrown when the parser gets there.
  std::vector<SyntaxError> error;  // none or one
};

// Line ends become "\n"; one at the end is dropped.
std::string normalize_source(std::string_view source);
LexedSource lex(std::string_view normalized);

// How error messages call a token: "'end of print statement'" without the quotes.
std::string describe(TokenType type);
std::string describe(const Token& token);

}  // namespace smol::jinja
