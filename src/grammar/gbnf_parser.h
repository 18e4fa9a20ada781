// GBNF text to a tree (llama.cpp, grammars/README.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/char_set.h"

namespace smol::grammar {

struct GbnfNode {
  enum class Kind : std::uint8_t { Text, Chars, Call, Sequence, Choice, Repeat };

  Kind kind = Kind::Sequence;
  std::string text;             // Text: UTF-8
  CharSet chars;                // Chars
  std::size_t rule = 0;         // Call
  std::vector<GbnfNode> parts;  // Sequence, Choice; Repeat: one
  std::uint32_t min = 0, max = 0;
};

struct GbnfRule {
  std::string name;
  std::size_t offset;  // of its definition
  GbnfNode body;
};

struct GbnfTree {
  static constexpr std::size_t kMaxBytes = 1U << 20;
  static constexpr int kMaxDepth = 100;
  static constexpr std::uint32_t kMaxRepetitions = 10'000;
  static constexpr std::uint32_t kUnbounded = 0xFFFF'FFFFU;

  std::vector<GbnfRule> rules;
  std::size_t root = 0;
};

// Throws what compile_gbnf says.
GbnfTree parse_gbnf(std::string_view text);

// Throws Error{BadInput}: line and column of `offset`, `what`, then the line with a caret.
[[noreturn]] void fail_gbnf(std::string_view text, std::size_t offset, const std::string& what);

}  // namespace smol::grammar
