// decode: ids -> text, whole and streamed in every way of cutting the ids.
#include "conformance/tokens.h"
#include "text/stream_decoder.h"

namespace smol::conformance {
namespace {

using text::StreamDecoder;
using text::Tokenizer;

// Up to this many ids all 2^(n-1) ways of cutting are tried, beyond it those into two and into
// equal parts.
constexpr std::size_t kAllWays = 10;

std::string decode_cut(const Tokenizer& tokenizer, std::span<const TokenId> ids, bool skip,
                       const std::vector<std::size_t>& cuts) {
  StreamDecoder decoder(tokenizer, skip);
  std::string text;
  std::size_t begin = 0;
  for (const std::size_t cut : cuts) {
    text += decoder.push(ids.subspan(begin, cut - begin));
    begin = cut;
  }
  text += decoder.push(ids.subspan(begin));
  return text + decoder.flush();
}

// Before id i is a cut if bit i - 1 is set.
std::vector<std::size_t> cuts_of(std::size_t bits, std::size_t n_ids) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < n_ids; ++i) {
    if ((bits >> (i - 1) & 1U) != 0) {
      cuts.push_back(i);
    }
  }
  return cuts;
}

std::vector<std::vector<std::size_t>> ways_of_cutting(std::size_t n_ids) {
  std::vector<std::vector<std::size_t>> ways;
  if (n_ids > 0 && n_ids <= kAllWays) {
    const std::size_t n_ways = std::size_t{1} << (n_ids - 1);
    ways.reserve(n_ways);
    for (std::size_t bits = 0; bits < n_ways; ++bits) {
      ways.push_back(cuts_of(bits, n_ids));
    }
    return ways;
  }
  for (std::size_t i = 1; i < n_ids; ++i) {
    ways.push_back({i});
    ways.emplace_back();
    for (std::size_t cut = i; cut < n_ids; cut += i) {
      ways.back().push_back(cut);
    }
  }
  return ways;
}

struct Expected {
  std::string text;
  std::vector<std::string> pieces;
  std::string flush;
};

Expected expected_of(const Json& record, bool skip) {
  const auto field = [&](const std::string& key) -> const Json& {
    const std::string skipped = key + "_skip";
    return record.at(skip && record.contains(skipped) ? skipped : key);
  };
  return {field("text").get<std::string>(), field("pieces").get<std::vector<std::string>>(),
          field("flush").get<std::string>()};
}

void check(Case& one, const Tokenizer& tokenizer, const Ids& ids, const Expected& expected,
           bool skip) {
  const std::string suffix = skip ? "_skip" : "";
  one.equal("text" + suffix, expected.text, tokenizer.decode(ids, skip));
  StreamDecoder decoder(tokenizer, skip);
  std::vector<std::string> pieces;
  for (const TokenId id : ids) {
    pieces.push_back(decoder.push(id));
  }
  one.equal("pieces" + suffix, Json(expected.pieces).dump(), Json(pieces).dump());
  one.equal("flush" + suffix, expected.flush, decoder.flush());
  for (const auto& cuts : ways_of_cutting(ids.size())) {
    if (!one.equal("sum of cut pieces" + suffix, expected.text,
                   decode_cut(tokenizer, ids, skip, cuts))) {
      return;
    }
  }
}

}  // namespace

void run_decode(const Options& options, Report& report) {
  require_option(options.tokenizer, "--tokenizer");
  const Tokenizer tokenizer = Tokenizer::open(options.tokenizer);
  for_each_record(options.cases, report, [&](const Json& record, const std::string& id) {
    Case one(report, id);
    const auto ids = record.at("ids").get<Ids>();
    for (const bool skip : {false, true}) {
      check(one, tokenizer, ids, expected_of(record, skip), skip);
    }
  });
}

}  // namespace smol::conformance
