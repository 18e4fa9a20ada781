#include "conformance/tokens.h"

#include "text/stream_encoder.h"

namespace smol::conformance {

std::string show(const Ids& ids) {
  std::string shown = "[";
  for (const TokenId id : ids) {
    shown += (shown.size() > 1 ? "," : "") + std::to_string(id);
  }
  return shown + "]";
}

std::string show(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Case::~Case() {
  if (!failed_ && std::uncaught_exceptions() == uncaught_) {
    report_.pass();
  }
}

void Case::fail(std::string_view what, std::string_view expected, std::string_view got) {
  if (!failed_) {
    report_.fail(id_ + " " + std::string(what), expected, got);
  }
  failed_ = true;
}

Ids encode_cut(const text::Tokenizer& tokenizer, std::string_view text, text::AddedTokens mode,
               const std::vector<std::size_t>& cuts) {
  text::StreamEncoder encoder(tokenizer, mode);
  Ids ids;
  const auto append = [&](const Ids& more) { ids.insert(ids.end(), more.begin(), more.end()); };
  std::size_t begin = 0;
  for (const std::size_t cut : cuts) {
    append(encoder.push(text.substr(begin, cut - begin)));
    begin = cut;
  }
  append(encoder.push(text.substr(begin)));
  append(encoder.flush());
  return ids;
}

bool check_all_cuts(Case& one, const text::Tokenizer& tokenizer, std::string_view text,
                    text::AddedTokens mode, const Ids& expected) {
  std::vector<std::size_t> every;
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    every.push_back(cut);
    if (!one.equal("cut at " + std::to_string(cut), expected,
                   encode_cut(tokenizer, text, mode, {cut}))) {
      return false;
    }
  }
  return one.equal("byte by byte", expected, encode_cut(tokenizer, text, mode, every));
}

}  // namespace smol::conformance
