// perplexity.jsonl: mean negative log likelihood of a text in windows, each from an empty cache.
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "conformance/conformance.h"
#include "conformance/model_runner.h"
#include "text/tokenizer.h"

namespace smol::conformance {

namespace {

std::vector<TokenId> encode(const text::Tokenizer& tokenizer, const Json& record,
                            const Options& options) {
  const std::string text = read_file(record_root(options) / record.at("text").get<std::string>());
  std::vector<TokenId> ids = tokenizer.encode(text);
  const auto first = ids_of(record.at("first_ids"));
  if (ids.size() != record.at("tokens").get<std::size_t>() ||
      !std::equal(first.begin(), first.end(), ids.begin())) {
    throw Error(ErrorCode::BadInput, "text: expected " + record.at("tokens").dump() +
                                         " tokens beginning as first_ids, found " +
                                         std::to_string(ids.size()));
  }
  return ids;
}

// Mean over all tokens of the window but the first.
double window_nll(ModelRunner& runner, std::span<const TokenId> ids, std::size_t chunk) {
  std::vector<bool> wanted(ids.size(), true);
  wanted.back() = false;
  double sum = 0.0;
  runner.run(ids, wanted, chunk, [&](std::size_t position, std::span<const float> logits) {
    const auto next = static_cast<std::size_t>(ids[position + 1]);
    sum += log_sum_exp(logits) - static_cast<double>(logits[next]);
  });
  return sum / static_cast<double>(ids.size() - 1);
}

void check(ModelRunner& runner, const std::vector<TokenId>& ids, const Json& record,
           std::size_t chunk, const std::string& id, Report& report) {
  const auto window = record.at("window").get<std::size_t>();
  const auto expected = record.at("window_nll").get<std::vector<double>>();
  const double rtol = record.at("rtol").at(runner.tolerance_kind()).get<double>();
  double sum = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double nll = window_nll(runner, std::span(ids).subspan(i * window, window), chunk);
    sum += nll;
    if (!(std::fabs(nll - expected[i]) <= 2.0 * rtol * expected[i])) {
      report.fail(id,
                  "window " + std::to_string(i) + ": " + number_text(expected[i]) + " within " +
                      number_text(2.0 * rtol) + " of it",
                  number_text(nll));
      return;
    }
  }
  // All windows score the same number of tokens.
  const double mean = sum / static_cast<double>(expected.size());
  const double wanted = record.at("mean_nll").get<double>();
  if (!(std::fabs(mean - wanted) <= rtol * wanted)) {
    report.fail(id, "mean " + number_text(wanted) + " within " + number_text(rtol) + " of it",
                number_text(mean));
    return;
  }
  report.pass();
}

}  // namespace

void run_perplexity(const Options& options, Report& report) {
  const RunnerSettings settings = settings_of(options);
  ModelLibrary library(options.models, settings);
  for_each_wanted(options, report, [&](const Json& record, const std::string& id) {
    ModelRunner* runner = library.open(record.at("model").get<std::string>(), id, report);
    if (runner == nullptr) {
      return;
    }
    const text::Tokenizer tokenizer = options.tokenizer.empty()
                                          ? text::Tokenizer::from_gguf(runner->file())
                                          : text::Tokenizer::open(options.tokenizer);
    check(*runner, encode(tokenizer, record, options), record, settings.chunk, id, report);
  });
}

}  // namespace smol::conformance
