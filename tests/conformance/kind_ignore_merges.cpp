// ignore-merges: words that are one token although their merges would not make it.
#include "conformance/tokens.h"

namespace smol::conformance {

void run_ignore_merges(const Options& options, Report& report) {
  require_option(options.tokenizer, "--tokenizer");
  const auto tokenizer = text::Tokenizer::open(options.tokenizer);
  for_each_record(options.cases, report, [&](const Json& record, const std::string& id) {
    Case one(report, id);
    one.equal("hf_ids", record.at("hf_ids").get<Ids>(),
              tokenizer.encode(record.at("text").get<std::string>()));
  });
}

}  // namespace smol::conformance
