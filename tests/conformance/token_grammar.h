// A tokenizer's vocabulary for grammars.
#pragma once

#include <memory>

#include "grammar/matcher.h"
#include "text/tokenizer.h"

namespace smol::conformance {

inline std::shared_ptr<const grammar::Vocabulary> vocabulary_of(const text::Tokenizer& tokenizer) {
  grammar::TokenTable table;
  for (TokenId id = 0; static_cast<std::size_t>(id) < tokenizer.vocab_size(); ++id) {
    table.bytes.push_back(tokenizer.is_added(id) ? std::string_view() : tokenizer.bytes_of(id));
    if (tokenizer.ends_turn(id)) {
      table.end_tokens.push_back(id);
    }
  }
  return std::make_shared<const grammar::Vocabulary>(table);
}

}  // namespace smol::conformance
