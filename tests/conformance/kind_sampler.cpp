// sampler: logits, history and settings -> the probabilities that are drawn from.
#include <cmath>
#include <string>
#include <vector>

#include "conformance/conformance.h"
#include "engine/sampler.h"

namespace smol::conformance {
namespace {

engine::SamplingSettings settings_of(const Json& json) {
  engine::SamplingSettings out;
  out.temperature = json.value("temperature", out.temperature);
  out.top_k = json.value("top_k", out.top_k);
  out.top_p = json.value("top_p", out.top_p);
  out.min_p = json.value("min_p", out.min_p);
  out.repetition_penalty = json.value("repetition_penalty", out.repetition_penalty);
  out.presence_penalty = json.value("presence_penalty", out.presence_penalty);
  out.frequency_penalty = json.value("frequency_penalty", out.frequency_penalty);
  if (json.contains("logit_bias")) {
    for (const auto& [id, bias] : json.at("logit_bias").items()) {
      out.logit_bias.push_back({std::stoi(id), bias.get<double>()});
    }
  }
  return out;
}

// What differs, or "".
std::string difference(const Json& record, const std::vector<double>& found) {
  const auto expected = record.at("probs").get<std::vector<double>>();
  const auto tolerance = record.at("atol").get<double>();
  if (expected.size() != found.size()) {
    return std::to_string(found.size()) + " probabilities";
  }
  std::size_t n_kept = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    n_kept += found[i] > 0 ? 1 : 0;
    if (!(std::abs(found[i] - expected[i]) <= tolerance)) {
      return "probability " + std::to_string(found[i]) + " of token " + std::to_string(i) +
             ", expected " + std::to_string(expected[i]);
    }
  }
  return n_kept == record.at("kept").get<std::size_t>() ? "" : std::to_string(n_kept) + " kept";
}

}  // namespace

void run_sampler(const Options& options, Report& report) {
  for_each_record(options.cases, report, [&](const Json& record, const std::string& id) {
    const auto logits = record.at("logits").get<std::vector<float>>();
    const auto history = record.at("history").get<std::vector<TokenId>>();
    engine::Sampler sampler(settings_of(record.at("settings")), logits.size());
    const std::string wrong = difference(record, sampler.probabilities(logits, history));
    if (wrong.empty()) {
      report.pass();
    } else {
      report.fail(id, "kept " + record.at("kept").dump() + ", probs " + record.at("probs").dump(),
                  wrong);
    }
  });
}

}  // namespace smol::conformance
