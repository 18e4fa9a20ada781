// rope.jsonl: frequencies and attention factors of a rope_parameters dictionary.
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "base/error.h"
#include "conformance/conformance.h"
#include "conformance/model_runner.h"
#include "model/rope.h"

namespace smol::conformance {

namespace {

using model::RopeScaling;
using model::RopeScalingType;

// What a converter writes to rope_freqs.weight for the type llama3.
std::vector<double> llama3_divisors(const Json& rope, std::size_t head_dim) {
  const double original = rope.at("original_max_position_embeddings").get<double>();
  const double low = rope.at("low_freq_factor").get<double>();
  const double high = rope.at("high_freq_factor").get<double>();
  const double factor = rope.at("factor").get<double>();
  const auto plain = model::make_rope(head_dim, rope.at("rope_theta").get<double>(), {});
  std::vector<double> divisors;
  for (const double frequency : plain.inv_freq) {
    const double wavelength = 2.0 * std::numbers::pi / frequency;
    if (wavelength < original / high) {
      divisors.push_back(1.0);
    } else if (wavelength > original / low) {
      divisors.push_back(factor);
    } else {
      const double smooth = (original / wavelength - low) / (high - low);
      divisors.push_back(1.0 / ((1.0 - smooth) / factor + smooth));
    }
  }
  return divisors;
}

RopeScaling scaling_of(const Json& rope, std::size_t head_dim) {
  const std::string type = rope.at("rope_type").get<std::string>();
  RopeScaling scaling;
  if (type == "llama3") {
    scaling.divisors = llama3_divisors(rope, head_dim);
  } else if (type == "linear" || type == "yarn") {
    scaling.type = type == "linear" ? RopeScalingType::Linear : RopeScalingType::Yarn;
    scaling.factor = rope.at("factor").get<double>();
    scaling.original_context = rope.value("original_max_position_embeddings", 0.0);
    scaling.beta_fast = rope.value("beta_fast", scaling.beta_fast);
    scaling.beta_slow = rope.value("beta_slow", scaling.beta_slow);
    scaling.truncate = rope.value("truncate", true);
  } else if (type != "default") {
    throw Error(ErrorCode::BadInput, "rope_type: expected a known one, found " + type);
  }
  return scaling;
}

bool is_near(double got, double expected, double rtol) {
  return std::fabs(got - expected) <= rtol * std::fabs(expected);
}

void check(const Json& record, const std::string& id, Report& report) {
  const auto head_dim = record.at("head_dim").get<std::size_t>();
  const Json& rope = record.at("rope");
  const double rtol = record.at("rtol").get<double>();
  const auto expected = record.at("inv_freq").get<std::vector<double>>();
  const model::RopeConfig got =
      model::make_rope(head_dim, rope.at("rope_theta").get<double>(), scaling_of(rope, head_dim));
  if (got.inv_freq.size() != expected.size()) {
    report.fail(id, std::to_string(expected.size()) + " frequencies",
                std::to_string(got.inv_freq.size()));
    return;
  }
  for (std::size_t pair = 0; pair < expected.size(); ++pair) {
    if (!is_near(got.inv_freq[pair], expected[pair], rtol)) {
      report.fail(id, "pair " + std::to_string(pair) + ": " + number_text(expected[pair]),
                  number_text(got.inv_freq[pair]));
      return;
    }
  }
  const double factor = record.at("attention_factor").get<double>();
  if (!is_near(got.attention_factor, factor, rtol)) {
    report.fail(id, "attention factor " + number_text(factor), number_text(got.attention_factor));
    return;
  }
  report.pass();
}

}  // namespace

void run_rope(const Options& options, Report& report) {
  for_each_wanted(options, report,
                  [&](const Json& record, const std::string& id) { check(record, id, report); });
}

}  // namespace smol::conformance
