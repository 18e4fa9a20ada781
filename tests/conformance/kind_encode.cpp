// encode: text -> ids in three modes, the way back, the pre-tokenizer's pieces, streams and padded
// batches.
#include <algorithm>
#include <random>

#include "base/error.h"
#include "conformance/tokens.h"

namespace smol::conformance {
namespace {

using text::AddedTokens;
using text::PaddingSide;
using text::Tokenizer;

constexpr std::size_t kBatches = 100;
constexpr std::size_t kMaxBatch = 16;
constexpr std::uint32_t kSeed = 3;

std::string text_or(const Json& record, const char* key, const std::string& otherwise) {
  return record.contains(key) ? record.at(key).get<std::string>() : otherwise;
}

void check_mode(Case& one, const Tokenizer& tokenizer, const Json& record, const char* key,
                AddedTokens mode) {
  if (!record.contains(key)) {
    return;
  }
  const auto text = record.at("text").get<std::string>();
  const auto ids = record.at(key).get<Ids>();
  if (one.equal(key, ids, tokenizer.encode(text, mode))) {
    check_all_cuts(one, tokenizer, text, mode, ids);
  }
}

void check_record(Case& one, const Tokenizer& tokenizer, const Json& record) {
  const auto text = record.at("text").get<std::string>();
  const auto ids = record.at("ids").get<Ids>();
  check_mode(one, tokenizer, record, "ids", AddedTokens::All);
  check_mode(one, tokenizer, record, "plain_ids", AddedTokens::None);
  check_mode(one, tokenizer, record, "split_special_ids", AddedTokens::OnlyNonSpecial);
  const std::string decoded = text_or(record, "decoded", text);
  one.equal("decoded", decoded, tokenizer.decode(ids, false));
  one.equal("decoded_skip_special", text_or(record, "decoded_skip_special", decoded),
            tokenizer.decode(ids, true));
  if (record.contains("pretok")) {
    const Json pieces = tokenizer.pieces(text);
    one.equal("pretok", record.at("pretok").dump(), pieces.dump());
  }
}

struct Encoded {
  std::string text;
  Ids ids;
};

// The row's own ids, with the padding where it belongs.
void check_row(Case& one, const text::PaddedBatch& batch, std::size_t row, const Ids& ids,
               bool left) {
  const std::size_t padding = batch.n_cols - ids.size();
  Ids found;
  Ids mask;
  for (std::size_t col = 0; col < batch.n_cols; ++col) {
    const std::size_t at = row * batch.n_cols + col;
    mask.push_back(batch.mask[at]);
    if (batch.mask[at] != 0) {
      found.push_back(batch.ids[at]);
    }
  }
  Ids expected(batch.n_cols, 0);
  std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(left ? padding : 0), ids.size(), 1);
  one.equal("batch mask", expected, mask);
  one.equal("batch ids", ids, found);
}

void check_batch(Case& one, const Tokenizer& tokenizer, const std::vector<Encoded>& group,
                 bool left) {
  std::vector<std::string> texts;
  std::size_t longest = 0;
  for (const Encoded& encoded : group) {
    texts.push_back(encoded.text);
    longest = std::max(longest, encoded.ids.size());
  }
  const auto batch = tokenizer.encode_batch(texts, left ? PaddingSide::Left : PaddingSide::Right);
  one.equal("batch shape",
            show(Ids{static_cast<TokenId>(group.size()), static_cast<TokenId>(longest)}),
            show(Ids{static_cast<TokenId>(batch.n_rows), static_cast<TokenId>(batch.n_cols)}));
  for (std::size_t row = 0; row < group.size(); ++row) {
    check_row(one, batch, row, group[row].ids, left);
  }
}

}  // namespace

void run_encode(const Options& options, Report& report) {
  require_option(options.tokenizer, "--tokenizer");
  const Tokenizer tokenizer = Tokenizer::open(options.tokenizer);
  std::vector<Encoded> all;
  for_each_record(options.cases, report, [&](const Json& record, const std::string& id) {
    Case one(report, id);
    check_record(one, tokenizer, record);
    all.push_back({record.at("text").get<std::string>(), record.at("ids").get<Ids>()});
  });
  if (all.empty()) {
    throw Error(ErrorCode::BadInput, options.cases.string() + ": no case found");
  }
  std::mt19937 random(kSeed);
  for (std::size_t i = 0; i < kBatches; ++i) {
    std::vector<Encoded> group(1 + random() % kMaxBatch);
    std::generate(group.begin(), group.end(), [&] { return all[random() % all.size()]; });
    for (const bool left : {false, true}) {
      Case one(report, "batch " + std::to_string(i) + (left ? " left" : " right"));
      check_batch(one, tokenizer, group, left);
    }
  }
}

}  // namespace smol::conformance
