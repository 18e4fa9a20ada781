// Fixed JSON values (const, enum) as lexemes.
#include "grammar/lowering.h"
#include "grammar/schema_compiler.h"

namespace smol::grammar {
namespace {

// The tokens of a value in canonical writing.
void append_tokens(std::vector<std::string>& tokens, const Json& value) {
  if (value.is_string()) {
    tokens.push_back(canonical_string(value.get_ref<const std::string&>()));
  } else if (value.is_array()) {
    tokens.emplace_back("[");
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i > 0) {
        tokens.emplace_back(",");
      }
      append_tokens(tokens, value[i]);
    }
    tokens.emplace_back("]");
  } else if (value.is_object()) {
    tokens.emplace_back("{");
    for (const auto& [key, inner] : value.items()) {
      if (tokens.back() != "{") {
        tokens.emplace_back(",");
      }
      tokens.push_back(canonical_string(key));
      tokens.emplace_back(":");
      append_tokens(tokens, inner);
    }
    tokens.emplace_back("}");
  } else {
    tokens.push_back(value.dump());
  }
}

}  // namespace

LexState add_value(Lexicon& lexicon, const Json& value) {
  std::vector<std::string> tokens;
  append_tokens(tokens, value);
  const LexState start = lexicon.add_sparse(false);
  LexState state = start;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) {
      const LexState spaced = lexicon.extend(state, ' ');
      lexicon.link(state, '\n', spaced);
      const auto first = static_cast<std::uint8_t>(tokens[i][0]);
      const LexState next = lexicon.extend(state, first);
      lexicon.link(spaced, first, next);
      state = next;
    } else {
      state = lexicon.extend(state, static_cast<std::uint8_t>(tokens[i][0]));
    }
    for (const char c : std::string_view(tokens[i]).substr(1)) {
      state = lexicon.extend(state, static_cast<std::uint8_t>(c));
    }
  }
  lexicon.set_accepts(state);
  return start;
}

}  // namespace smol::grammar
