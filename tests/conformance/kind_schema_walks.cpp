// json-schema-walks: random answers under each schema, printed as JSON lines for a validator. Each
// must end within its tokens where that is possible.
#include <cstdio>
#include <random>

#include "base/error.h"
#include "conformance/token_grammar.h"
#include "conformance/tokens.h"

namespace smol::conformance {
namespace {

constexpr int kWalks = 4;

// One random answer; "" where it did not end.
std::string random_answer(grammar::Matcher matcher, const grammar::Vocabulary& vocabulary,
                          std::size_t max_tokens, std::mt19937& random) {
  std::vector<std::uint64_t> mask(vocabulary.mask_words());
  std::string text;
  for (std::size_t left = max_tokens;; --left) {
    matcher.mask(mask, left);
    std::vector<TokenId> allowed;
    for (TokenId id = 0; static_cast<std::size_t>(id) < vocabulary.size(); ++id) {
      if (grammar::is_allowed(mask, id)) {
        allowed.push_back(id);
      }
    }
    if (matcher.is_complete() && (left == 0 || allowed.size() < 4 || random() % 4 == 0)) {
      return text;
    }
    std::erase_if(allowed, [&](TokenId id) { return vocabulary.ends(id); });
    if (left == 0 || allowed.empty()) {
      return "";
    }
    const TokenId token = allowed[random() % allowed.size()];
    if (!matcher.accept(token)) {
      return "";
    }
    text += vocabulary.bytes_of(token);
  }
}

}  // namespace

void run_schema_walks(const Options& options, Report& report) {
  require_option(options.tokenizer, "--tokenizer");
  const auto tokenizer = text::Tokenizer::open(options.tokenizer);
  const auto vocabulary = vocabulary_of(tokenizer);
  std::mt19937 random(11);
  for_each_record(options.cases, report, [&](const Json& record, const std::string& id) {
    Case one(report, id);
    std::shared_ptr<const grammar::Grammar> compiled;
    try {
      compiled = grammar::compile_json_schema(record.at("schema"));
    } catch (const Error&) {
      return;  // kind json-schema judges refusals
    }
    const grammar::Matcher matcher(
        std::make_shared<const grammar::TokenGrammar>(compiled, vocabulary));
    for (int walk = 0; walk < kWalks; ++walk) {
      const std::size_t shortest = grammar::Matcher(matcher).shortest_end();
      const std::size_t max_tokens = shortest + (walk == 0 ? 0 : random() % 100);
      const std::string text = random_answer(matcher, *vocabulary, max_tokens, random);
      one.equal<std::string>("walk of " + std::to_string(max_tokens) + " tokens", "ended",
                             text.empty() ? "not ended" : "ended");
      std::printf("%s\n", Json{{"id", id}, {"text", text}}.dump().c_str());
    }
  });
}

}  // namespace smol::conformance
