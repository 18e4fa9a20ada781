// logits.jsonl: logits of given ids within the record's tolerance.
#include "conformance/conformance.h"
#include "conformance/logits_record.h"
#include "conformance/model_runner.h"

namespace smol::conformance {

void run_logits(const Options& options, Report& report) {
  ModelLibrary library(options.models, settings_of(options));
  for_each_wanted(options, report, [&](const Json& record, const std::string& id) {
    ModelRunner* runner = library.open(record.at("model").get<std::string>(), id, report);
    if (runner == nullptr) {
      return;
    }
    const LogitsDistance distance = measure_logits(*runner, record, options);
    if (distance.within()) {
      report.pass();
    } else {
      report.fail(id, distance.expected(), distance.got());
    }
  });
}

}  // namespace smol::conformance
