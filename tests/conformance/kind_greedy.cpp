// greedy.jsonl: the continuation itself up to the first step whose margin is too small to be sure
// of, and every sure step when prompt and expected tokens are fed in.
#include <algorithm>
#include <string>
#include <vector>

#include "conformance/conformance.h"
#include "conformance/model_runner.h"

namespace smol::conformance {

namespace {

struct GreedyRecord {
  std::vector<TokenId> ids, expected;
  std::vector<double> margins;
  double safe_margin = 0.0;
  std::size_t firm_steps = 0, firm_total = 0;
};

GreedyRecord read_record(const Json& record, const std::string& kind) {
  return {ids_of(record.at("ids")),
          ids_of(record.at("expected")),
          record.at("margins").get<std::vector<double>>(),
          record.at("safe_margin").at(kind).get<double>(),
          record.at("firm_steps").at(kind).get<std::size_t>(),
          record.at("firm_total").at(kind).get<std::size_t>()};
}

std::string step_text(std::size_t step, TokenId id) {
  return "id " + std::to_string(id) + " at step " + std::to_string(step);
}

// Steps before the first difference, at most `n`.
std::size_t matching_steps(ModelRunner& runner, const GreedyRecord& record, std::size_t n) {
  TokenId next = best_token(runner.last_logits(record.ids));
  std::size_t step = 0;
  while (step < n && next == record.expected[step]) {
    ++step;
    if (step < n) {
      next = best_token(runner.step(record.expected[step - 1]));
    }
  }
  return step;
}

// The largest logit after each prefix of `expected`.
std::vector<TokenId> forced_choices(ModelRunner& runner, const GreedyRecord& record,
                                    std::size_t chunk) {
  std::vector<TokenId> ids = record.ids;
  ids.insert(ids.end(), record.expected.begin(), record.expected.end() - 1);
  std::vector<bool> wanted(ids.size(), false);
  std::fill(wanted.begin() + static_cast<std::ptrdiff_t>(record.ids.size()) - 1, wanted.end(),
            true);
  std::vector<TokenId> choices;
  runner.run(ids, wanted, chunk, [&](std::size_t, std::span<const float> logits) {
    choices.push_back(best_token(logits));
  });
  return choices;
}

void check(ModelRunner& runner, const GreedyRecord& record, std::size_t chunk,
           const std::string& id, Report& report) {
  const std::size_t matching = matching_steps(runner, record, record.firm_steps);
  if (matching < record.firm_steps) {
    report.fail(id, step_text(matching, record.expected[matching]), "another");
    return;
  }
  const std::vector<TokenId> choices = forced_choices(runner, record, chunk);
  std::size_t firm = 0;
  for (std::size_t step = 0; step < choices.size(); ++step) {
    if (record.margins[step] < record.safe_margin) {
      continue;
    }
    ++firm;
    if (choices[step] != record.expected[step]) {
      report.fail(id, step_text(step, record.expected[step]) + " with all before it fed in",
                  step_text(step, choices[step]));
      return;
    }
  }
  if (firm != record.firm_total) {
    report.fail(id, std::to_string(record.firm_total) + " sure steps", std::to_string(firm));
    return;
  }
  report.pass();
}

}  // namespace

void run_greedy(const Options& options, Report& report) {
  const RunnerSettings settings = settings_of(options);
  ModelLibrary library(options.models, settings);
  for_each_wanted(options, report, [&](const Json& record, const std::string& id) {
    ModelRunner* runner = library.open(record.at("model").get<std::string>(), id, report);
    if (runner != nullptr) {
      check(*runner, read_record(record, runner->tolerance_kind()), settings.chunk, id, report);
    }
  });
}

}  // namespace smol::conformance
