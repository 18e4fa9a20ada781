// json-schema: a schema's grammar lets valid instances through token by token, and stops invalid
// ones. A schema that is not supported must be refused with its keyword and path.
#include <memory>

#include "base/error.h"
#include "conformance/token_grammar.h"
#include "conformance/tokens.h"

namespace smol::conformance {
namespace {

using grammar::Matcher;
using grammar::TokenGrammar;
using grammar::Vocabulary;
using text::Tokenizer;

// As Python's json.dumps(data, ensure_ascii=False) writes it.
std::string python_text(const Json& value) {
  if (value.is_structured()) {
    std::string text = value.is_array() ? "[" : "{";
    for (const auto& [key, inner] : value.items()) {
      text += text.size() > 1 ? ", " : "";
      text += value.is_array() ? "" : Json(key).dump() + ": ";
      text += python_text(inner);
    }
    return text + (value.is_array() ? "]" : "}");
  }
  return value.dump();
}

// How many tokens are let through; one more where the end is allowed behind them.
std::size_t tokens_let_through(Matcher matcher, const Vocabulary& vocabulary, const Ids& ids,
                               Case& one) {
  std::vector<std::uint64_t> mask(vocabulary.mask_words());
  std::size_t n = 0;
  for (const TokenId id : ids) {
    matcher.mask(mask);
    const bool accepted = matcher.accept(id);
    one.equal<std::string>("mask and accept agree at token " + std::to_string(n),
                           grammar::is_allowed(mask, id) ? "allowed" : "stopped",
                           accepted ? "allowed" : "stopped");
    if (!accepted) {
      return n;
    }
    ++n;
  }
  matcher.mask(mask);
  one.equal<std::string>(
      "end tokens", matcher.is_complete() ? "allowed" : "stopped",
      grammar::is_allowed(mask, vocabulary.end_tokens()[0]) ? "allowed" : "stopped");
  return n + (matcher.is_complete() ? 1 : 0);
}

// "/path/keyword: ..."
bool names_a_path(const std::string& message) {
  return message.starts_with("/") && message.find(": ") != std::string::npos;
}

}  // namespace

void run_json_schema(const Options& options, Report& report) {
  require_option(options.tokenizer, "--tokenizer");
  const Tokenizer tokenizer = Tokenizer::open(options.tokenizer);
  const auto vocabulary = vocabulary_of(tokenizer);
  std::size_t n_supported = 0;
  std::size_t n_refused = 0;
  for_each_record(options.cases, report, [&](const Json& record, const std::string& id) {
    if (id.find(options.only) == std::string::npos) {
      return;
    }
    Case one(report, id);
    std::shared_ptr<const grammar::Grammar> compiled;
    try {
      compiled = grammar::compile_json_schema(record.at("schema"));
    } catch (const Error& error) {
      ++n_refused;
      one.equal<std::string>("refusal", "named with a path",
                             names_a_path(error.what()) ? "named with a path" : error.what());
      if (!options.only.empty()) {
        std::printf("%s: %s\n", id.c_str(), error.what());
      }
      return;
    }
    ++n_supported;
    const auto tokens = std::make_shared<const TokenGrammar>(compiled, vocabulary);
    for (std::size_t i = 0; i < record.at("tests").size(); ++i) {
      const Json& test = record.at("tests")[i];
      const bool valid = test.at("valid").get<bool>();
      const Ids ids = tokenizer.encode(python_text(test.at("data")), text::AddedTokens::None);
      const std::size_t n = tokens_let_through(Matcher(tokens), *vocabulary, ids, one);
      const bool passed = n == ids.size() + 1;
      const std::string what = "test " + std::to_string(i);
      const std::string found =
          passed ? "allowed"
                 : "stopped at token " + std::to_string(n) + " of " + std::to_string(ids.size());
      one.equal<std::string>(what, valid ? "allowed" : "stopped",
                             valid || passed ? found : "stopped");
    }
  });
  std::printf("%zu supported, %zu refused\n", n_supported, n_refused);
  if (n_supported * 10 < (n_supported + n_refused) * 7) {
    report.fail("coverage", "at least 70 % supported", std::to_string(n_supported));
  }
}

}  // namespace smol::conformance
