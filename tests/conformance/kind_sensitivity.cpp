// sensitivity.jsonl: every mistake listed for a float32 model, planted in it, breaks the tolerance
// of its longest logits record (up to 257 ids; logits.jsonl lies beside the cases). Quantized
// models test kernels, not the architecture: their tolerances are too wide for some mistakes.
#include <map>
#include <string>

#include "conformance/conformance.h"
#include "conformance/logits_record.h"
#include "conformance/model_runner.h"

namespace smol::conformance {

namespace {

constexpr std::size_t kMostIds = 257;

std::map<std::string, Json> longest_records(const Options& options, Report& report) {
  std::map<std::string, Json> longest;
  for_each_record(options.cases.parent_path() / "logits.jsonl", report,
                  [&](const Json& record, const std::string&) {
                    Json& kept = longest[record.at("model").get<std::string>()];
                    const std::size_t n_ids = record.at("ids").size();
                    if (n_ids <= kMostIds && (kept.is_null() || n_ids > kept.at("ids").size())) {
                      kept = record;
                    }
                  });
  return longest;
}

}  // namespace

void run_sensitivity(const Options& options, Report& report) {
  const std::map<std::string, Json> records = longest_records(options, report);
  RunnerSettings settings = settings_of(options);
  if (!options.kv_type) {
    settings.kv_type = model::KvCacheType::F32;  // the tolerance `exact` catches all of them
  }
  for_each_record(options.cases, report, [&](const Json& record, const std::string&) {
    const std::string model = record.at("model").get<std::string>();
    for (const auto& [mistake, unused] : record.at("mistakes").items()) {
      std::string id = model;
      id.append(" ").append(mistake);
      settings.mistake = mistake;
      ModelLibrary library(options.models, settings);
      ModelRunner* runner = library.open(model, id, report);
      if (runner == nullptr) {
        continue;
      }
      const LogitsDistance distance = measure_logits(*runner, records.at(model), options);
      if (distance.kind != "exact" && distance.kind != "f16kv") {
        report.skip(id, "a quantized model");
      } else if (distance.within()) {
        report.fail(id, "more than " + distance.expected(), distance.got());
      } else {
        report.pass();
      }
    }
  });
}

}  // namespace smol::conformance
