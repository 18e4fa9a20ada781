#include <cmath>

#include <fmt/format.h>

#include "app/doctor_checks.h"

namespace smol::app {
namespace {

constexpr std::string_view kConvertOrReplace =
    "convert the model again with a current converter, or get another file";

// SmolLM3-3B's config.json; its smaller relatives share all but the context.
constexpr double kRopeTheta = 5e6;
constexpr double kNormEps = 1e-6;
constexpr std::size_t kNativeContext = 65536;

bool nearly(double a, double b) {
  return std::abs(a - b) <= 1e-5 * std::abs(b);
}

void check_rope(const model::ModelConfig& config, Findings& findings) {
  if (config.architecture == "smollm3" && !nearly(config.rope_theta, kRopeTheta)) {
    findings.fault(
        "rope base",
        fmt::format("smollm3.rope.freq_base: expected {}, found {}", kRopeTheta, config.rope_theta),
        std::string(kConvertOrReplace));
  } else {
    findings.good("rope base", fmt::format("{}", config.rope_theta));
  }
  switch (config.rope_scaling.type) {
    case model::RopeScalingType::None:
      findings.good("rope scaling", config.rope_scaling.divisors.empty()
                                        ? "none stated"
                                        : "divisors in rope_freqs.weight");
      break;
    case model::RopeScalingType::Linear:
      findings.note("rope scaling", fmt::format("linear, factor {}: applies at every length",
                                                config.rope_scaling.factor));
      break;
    case model::RopeScalingType::Yarn:
      findings.note("rope scaling",
                    fmt::format("YaRN, factor {} over {} positions: applies at every length",
                                config.rope_scaling.factor, config.rope_scaling.original_context));
      break;
  }
}

void check_nope(const gguf::File& file, const model::ModelConfig& config, Findings& findings) {
  std::string layers;
  for (std::size_t i = 0; i < config.n_layers; ++i) {
    if (!config.layer_uses_rope[i]) {
      layers += (layers.empty() ? "" : ", ") + std::to_string(i);
    }
  }
  if (config.architecture != "smollm3" && family_of(file) == Family::SmolLM3) {
    findings.fault("NoPE",
                   fmt::format("general.architecture: expected smollm3 for a SmolLM3 vocabulary, "
                               "found {}: RoPE is applied on every layer",
                               config.architecture),
                   std::string(kConvertOrReplace));
  } else {
    findings.good("NoPE", layers.empty() ? "RoPE on every layer" : "no RoPE on layers " + layers);
  }
}

}  // namespace

void check_config(const gguf::File& file, const model::ModelConfig& config, Findings& findings) {
  findings.good("shape",
                fmt::format("{}: {} layers of {}, {} query heads on {} of {}, feed-forward {}, "
                            "vocabulary {}",
                            config.architecture, config.n_layers, config.d_model, config.n_heads,
                            config.n_kv_heads, config.head_dim, config.d_ff, config.vocab_size));
  check_rope(config, findings);
  check_nope(file, config, findings);
  const bool is_smollm3 = config.architecture == "smollm3";
  if (is_smollm3 && !nearly(config.norm_eps, kNormEps)) {
    findings.fault(
        "norm epsilon",
        fmt::format("smollm3.attention.layer_norm_rms_epsilon: expected {}, found {:.6g}", kNormEps,
                    config.norm_eps),
        std::string(kConvertOrReplace));
  } else {
    findings.good("norm epsilon", fmt::format("{:.6g}", config.norm_eps));
  }
  const bool is_scaled = config.rope_scaling.type != model::RopeScalingType::None;
  if (is_smollm3 && !is_scaled && config.context_length > kNativeContext) {
    findings.fault("context length",
                   fmt::format("smollm3.context_length: expected at most {} without YaRN, found {}",
                               kNativeContext, config.context_length),
                   fmt::format("use --context {} or less", kNativeContext));
  } else {
    findings.good("context length", fmt::format("{} positions", config.context_length));
  }
}

}  // namespace smol::app
