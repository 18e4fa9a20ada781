// Whether a text fits a grammar, byte by byte.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "grammar/grammar.h"
#include "grammar/pushdown.h"

namespace smol::grammar {

inline bool fits(const std::shared_ptr<const Grammar>& grammar, std::string_view text) {
  Pushdown run(grammar);
  Cursors from = run.start();
  Cursors to;
  for (const char byte : text) {
    run.step(from, static_cast<std::uint8_t>(byte), to);
    std::swap(from, to);
  }
  return from.complete;
}

inline std::shared_ptr<const Grammar> schema(std::string_view text) {
  return compile_json_schema(parse_json(text, "schema"));
}

inline bool schema_fits(std::string_view schema_text, std::string_view text) {
  return fits(schema(schema_text), text);
}

// What the compiler says against a schema; "" if nothing.
inline std::string schema_refusal(std::string_view text) {
  try {
    static_cast<void>(schema(text));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace smol::grammar
