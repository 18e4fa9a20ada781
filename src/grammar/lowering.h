// From automata over code points to automata over bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "grammar/lexicon.h"
#include "grammar/regex.h"

namespace smol::grammar {

// The lexeme of the texts of a non-empty automaton, in UTF-8.
LexState lower_text(Lexicon& lexicon, const CharDfa& dfa);

// The lexeme of the JSON strings of those texts in canonical writing; it goes on in `tail` behind
// the closing quote.
LexState lower_string(Lexicon& lexicon, const CharDfa& dfa, LexState tail);

// A key with its colon that is none of `names` (valid UTF-8).
LexState lower_other_keys(Lexicon& lexicon, std::span<const std::string_view> names);

// With its quotes. Canonical: only what must be is escaped, with the short escape where there is
// one, else \u00xx in lower case.
std::string canonical_string(std::string_view valid_utf8);

}  // namespace smol::grammar
