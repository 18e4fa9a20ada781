#include "model/rope_keys.h"

#include <cmath>
#include <cstring>
#include <string>

#include "base/error.h"
#include "gguf/printable.h"

namespace smol::model {

namespace {

constexpr double kMaxFactor = 1e6;
constexpr Range kContextRange{1, 1U << 20U};
// A float's rounding below 1.
constexpr float kLeastDivisor = 0.9999998F;

constexpr std::string_view kFreqs = "rope_freqs.weight";

std::vector<double> read_divisors(const gguf::File& file, std::size_t head_dim) {
  const gguf::TensorView* tensor = file.find(kFreqs);
  if (tensor == nullptr) {
    return {};
  }
  const std::string label = std::string(file.name()) + ": " + std::string(kFreqs);
  const std::size_t count = tensor->n_rows() * tensor->n_cols();
  if (tensor->dtype != gguf::DType::F32 || count != head_dim / 2) {
    throw Error(ErrorCode::BadInput, label + ": expected " + std::to_string(head_dim / 2) +
                                         " values of F32, found " + std::to_string(count) + " of " +
                                         std::string(gguf::traits(tensor->dtype).name));
  }
  std::vector<float> values(count);
  std::memcpy(values.data(), tensor->bytes.data(), count * sizeof(float));
  for (const float value : values) {
    if (!(value >= kLeastDivisor && std::isfinite(value))) {
      throw Error(ErrorCode::BadInput,
                  label + ": expected finite values of at least 1, found " + std::to_string(value));
    }
  }
  return {values.begin(), values.end()};
}

// Two of YaRN's numbers are fixed in this program: a file that states others would be computed
// wrongly.
void refuse_other_yarn(const ConfigKeys& keys) {
  const auto require = [&](std::string_view key, double only) {
    const double stated = keys.real_or(key, -kMaxFactor, kMaxFactor, only);
    if (stated != only) {
      throw Error(ErrorCode::Unsupported, keys.label(key) + ": expected " + std::to_string(only) +
                                              " (the only one supported), found " +
                                              std::to_string(stated));
    }
  };
  require("rope.scaling.yarn_ext_factor", 1.0);
  require("rope.scaling.yarn_log_multiplier", 0.0);
}

void read_yarn(const ConfigKeys& keys, std::size_t context_length, RopeScaling& scaling) {
  refuse_other_yarn(keys);
  scaling.type = RopeScalingType::Yarn;
  scaling.original_context = static_cast<double>(
      keys.count_or("rope.scaling.original_context_length", kContextRange, context_length));
  scaling.beta_fast = keys.real_or("rope.scaling.yarn_beta_fast", 1e-3, kMaxFactor, 32.0);
  scaling.beta_slow = keys.real_or("rope.scaling.yarn_beta_slow", 1e-3, kMaxFactor, 1.0);
  if (scaling.beta_slow > scaling.beta_fast) {
    keys.fail("rope.scaling.yarn_beta_slow", "at most yarn_beta_fast",
              std::to_string(scaling.beta_slow));
  }
  scaling.attention_factor = keys.real_or("rope.scaling.attn_factor", 1e-3, kMaxFactor, 1.0) *
                             keys.real_or("rope.scaling.yarn_attn_factor", 1e-3, kMaxFactor, 1.0);
}

}  // namespace

RopeScaling read_rope_scaling(const gguf::File& file, const ConfigKeys& keys, FileContext context) {
  constexpr std::string_view kType = "rope.scaling.type";
  constexpr std::string_view kFactor = "rope.scaling.factor";
  RopeScaling scaling;
  scaling.divisors = read_divisors(file, context.head_dim);
  const std::string_view type = keys.text(kType).value_or("none");
  if (type == "none") {
    return scaling;
  }
  if (type != "linear" && type != "yarn") {
    throw Error(
        ErrorCode::Unsupported,
        keys.label(kType) + ": expected one of none, linear, yarn, found " + gguf::printable(type));
  }
  scaling.factor = keys.real(kFactor, 1.0, kMaxFactor);
  if (type == "yarn") {
    read_yarn(keys, context.context_length, scaling);
  } else {
    scaling.type = RopeScalingType::Linear;
  }
  return scaling;
}

}  // namespace smol::model
