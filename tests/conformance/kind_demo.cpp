// goldens.jsonl of the demo model: greedy ids of the float32 file, and the last logits of the
// prompt where given. Run with --kv-type f32: the goldens were made with a float32 cache.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "conformance/conformance.h"
#include "conformance/model_runner.h"

namespace smol::conformance {

namespace {

constexpr const char* kModel = "smollm3-demo-f32.gguf";
// The bound `exact` of the logits records of this file.
constexpr double kLogitTolerance = 3e-4;

double largest_difference(std::span<const float> logits, const std::vector<double>& expected) {
  double largest = logits.size() == expected.size() ? 0.0 : INFINITY;
  for (std::size_t i = 0; i < std::min(logits.size(), expected.size()); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(logits[i]) - expected[i]));
  }
  return largest;
}

void check(ModelRunner& runner, const Json& record, const std::string& id, Report& report) {
  const auto expected = ids_of(record.at("output_ids"));
  const std::vector<float> logits = runner.last_logits(ids_of(record.at("prompt_ids")));
  if (const auto last = record.find("last_logits"); last != record.end()) {
    const double difference = largest_difference(logits, last->get<std::vector<double>>());
    if (!(difference <= kLogitTolerance)) {
      report.fail(id, "last logits within " + number_text(kLogitTolerance),
                  number_text(difference));
      return;
    }
  }
  TokenId next = best_token(logits);
  for (std::size_t step = 0; step < expected.size(); ++step) {
    if (next != expected[step]) {
      report.fail(id, "id " + std::to_string(expected[step]) + " at step " + std::to_string(step),
                  "id " + std::to_string(next));
      return;
    }
    next = best_token(runner.step(expected[step]));
  }
  report.pass();
}

}  // namespace

void run_demo(const Options& options, Report& report) {
  ModelLibrary library(options.models, settings_of(options));
  const std::string model = library.find(kModel) ? kModel : "demo/" + std::string(kModel);
  for_each_record(options.cases, report, [&](const Json& record, const std::string& line) {
    const std::string id = record.contains("name") ? record.at("name").get<std::string>() : line;
    ModelRunner* runner = library.open(model, id, report);
    if (runner != nullptr) {
      check(*runner, record, id, report);
    }
  });
}

}  // namespace smol::conformance
