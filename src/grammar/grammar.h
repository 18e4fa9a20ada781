// What an answer may look like: the compiled form of a JSON Schema or of a GBNF text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "grammar/lexicon.h"
#include "grammar/rules.h"

namespace smol::grammar {

// Immutable; any thread may share it. It knows bytes, no tokens: see masks.h and matcher.h.
class Grammar {
 public:
  // For the builders below.
  Grammar(Lexicon lexicon, Rules rules, bool has_free_keys = false)
      : lexicon_(std::move(lexicon)), rules_(std::move(rules)), has_free_keys_(has_free_keys) {}

  const Lexicon& lexicon() const noexcept { return lexicon_; }

  const Rules& rules() const noexcept { return rules_; }

  // The texts are JSON, and the rules alone do not say that an object's keys are all different.
  bool has_free_keys() const noexcept { return has_free_keys_; }

 private:
  Lexicon lexicon_;
  Rules rules_;
  bool has_free_keys_;
};

// The JSON texts that a schema (draft 4 to 2020-12, by its $schema) allows, in this writing:
// - between JSON tokens at most one space or newline each, none before or behind the value;
// - keys in the schema's order (properties, then further required ones), then all others; in a
//   branch of anyOf or oneOf also with the required ones first, in the order of `required`; no key
//   twice in an object, as long as there is another one it can have;
// - free strings with every escape JSON has; strings that must match something (pattern, format,
//   enum, const, names of properties, further keys) canonically: escaped only what must be, with
//   the short escape where there is one, else \u00xx;
// - numbers of enum and const as the schema writes them, numbers with another bound than 0 or a
//   multipleOf without exponent, integers without a fraction, exponents of at most 299.
// Throws Error{Unsupported} for a keyword that is not enforced, Error{BadInput} for a value that is
// no schema or allows nothing, Error{Exhausted} for one beyond the compiler's bounds; each
// message names the keyword and its path: `/properties/a/not: "not" is not supported`.
std::shared_ptr<const Grammar> compile_json_schema(const Json& schema);

// Any JSON object.
std::shared_ptr<const Grammar> any_json_object();

// GBNF as llama.cpp's grammars/README.md describes it (without token references), from rule `root`.
// Throws Error{BadInput} naming line and column with the line and a caret below it: what does not
// parse, an unknown or repeated rule, left recursion; Error{Exhausted} beyond bounds.
std::shared_ptr<const Grammar> compile_gbnf(std::string_view text);

}  // namespace smol::grammar
