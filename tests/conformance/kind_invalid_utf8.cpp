// invalid-utf8: bytes -> lossy text -> ids, whole and streamed.
#include <charconv>

#include "base/error.h"
#include "base/utf8.h"
#include "conformance/tokens.h"

namespace smol::conformance {
namespace {

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned value = 0;
    const auto end = hex.data() + i + 2;
    if (std::from_chars(hex.data() + i, end, value, 16).ptr != end) {
      throw Error(ErrorCode::BadInput, "bytes_hex: expected hexadecimal digits");
    }
    bytes.push_back(static_cast<char>(value));
  }
  return bytes;
}

}  // namespace

void run_invalid_utf8(const Options& options, Report& report) {
  require_option(options.tokenizer, "--tokenizer");
  const auto tokenizer = text::Tokenizer::open(options.tokenizer);
  for_each_record(options.cases, report, [&](const Json& record, const std::string& id) {
    Case one(report, id);
    const std::string bytes = from_hex(record.at("bytes_hex").get<std::string>());
    const auto ids = record.at("ids").get<Ids>();
    one.equal("text", record.at("text").get<std::string>(), utf8::to_valid(bytes));
    one.equal("ids", ids, tokenizer.encode(bytes));
    check_all_cuts(one, tokenizer, bytes, text::AddedTokens::All, ids);
  });
}

}  // namespace smol::conformance
