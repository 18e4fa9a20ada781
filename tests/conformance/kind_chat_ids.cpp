// chat-ids: whole rendered prompts -> ids, for the vocabulary that each record names, and back.
#include <filesystem>
#include <map>
#include <string>

#include "conformance/conformance.h"
#include "conformance/tokens.h"

namespace smol::conformance {

void run_chat_ids(const Options& options, Report& report) {
  require_option(options.tokenizers, "--tokenizers");
  std::map<std::string, text::Tokenizer> tokenizers;
  for_each_record(options.cases, report, [&](const Json& record, const std::string& id) {
    const auto vocab = record.at("vocab").get<std::string>();
    auto found = tokenizers.find(vocab);
    if (found == tokenizers.end()) {
      const char* ending = options.gguf ? "_vocab.gguf" : "_tokenizer.json";
      found =
          tokenizers.emplace(vocab, text::Tokenizer::open(options.tokenizers / (vocab + ending)))
              .first;
    }
    const auto text = record.at("text").get<std::string>();
    const auto ids = record.at("ids").get<Ids>();
    Case one(report, id);
    one.equal("ids", ids, found->second.encode(text));
    one.equal("text", text, found->second.decode(ids, false));
  });
}

}  // namespace smol::conformance
