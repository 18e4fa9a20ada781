// One record of logits.jsonl: what a model must give for its ids, and how near.
#pragma once

#include <string>

#include "base/json.h"
#include "conformance/conformance.h"
#include "conformance/model_runner.h"

namespace smol::conformance {

// Differences over all compared logits of a record, and what they may be.
struct LogitsDistance {
  std::string kind;  // of the tolerance
  double max = 0.0, rms = 0.0;
  double allowed_max = 0.0, allowed_rms = 0.0;

  bool within() const noexcept { return max <= allowed_max && rms <= allowed_rms; }

  std::string expected() const;
  std::string got() const;
};

// Throws Error{BadInput} where the record has no tolerance of the kind that the file needs, or its
// shapes do not fit.
LogitsDistance measure_logits(ModelRunner& runner, const Json& record, const Options& options);

}  // namespace smol::conformance
