#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "grammar/grammar.h"
#include "grammar/schema_compiler.h"

namespace smol::grammar {

namespace {

std::shared_ptr<const Grammar> compile_whole(const Json& schema) {
  SchemaCompiler compiler(schema);
  compiler.compile();
  RulesBuilder::Result result = compiler.rules().finish(compiler.root());
  if (result.empty) {
    throw Error(ErrorCode::BadInput, "/: the schema allows no value");
  }
  return std::make_shared<const Grammar>(std::move(compiler.lexicon()), std::move(result.rules),
                                         compiler.has_free_keys());
}

}  // namespace

std::shared_ptr<const Grammar> compile_json_schema(const Json& schema) {
  try {
    return compile_whole(schema);
  } catch (const Error& error) {
    const std::string message = error.what();
    throw Error(error.code(), message.starts_with('/') ? message : "/: " + message);
  }
}

std::shared_ptr<const Grammar> any_json_object() {
  static const auto kGrammar = compile_json_schema(Json{{"type", "object"}});
  return kGrammar;
}

}  // namespace smol::grammar
