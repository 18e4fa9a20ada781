#include "conformance/mistakes.h"

#include <array>
#include <cmath>
#include <string>

#include "base/error.h"

namespace smol::conformance {

namespace {

using model::ModelConfig;
using model::RopeScaling;
using model::RopeScalingType;

void remake_rope(ModelConfig& config, double theta, const RopeScaling& scaling) {
  config.rope = model::make_rope(config.head_dim, theta, scaling);
}

void wrong_theta(ModelConfig& config) {
  constexpr double kWrong = 10000.0;
  remake_rope(config, kWrong, config.rope_scaling);
}

void halves(ModelConfig& config) {
  config.rope.pairs = model::RopePairs::Halves;
}

void no_eps(ModelConfig& config) {
  config.norm_eps = 0.0;
}

void rope_everywhere(ModelConfig& config) {
  config.layer_uses_rope.assign(config.n_layers, true);
}

void nope_on_other_layers(ModelConfig& config) {
  if (config.architecture != "smollm3") {
    return;
  }
  constexpr std::size_t kInterval = 4;
  for (std::size_t layer = 0; layer < config.n_layers; ++layer) {
    config.layer_uses_rope[layer] = layer % kInterval != 0;
  }
}

void no_scaling(ModelConfig& config) {
  remake_rope(config, config.rope_theta, {});
}

void no_ramp(ModelConfig& config) {
  if (config.rope_scaling.type != RopeScalingType::Yarn) {
    return;
  }
  const double attention_factor = config.rope.attention_factor;
  RopeScaling linear = config.rope_scaling;
  linear.type = RopeScalingType::Linear;
  remake_rope(config, config.rope_theta, linear);
  config.rope.attention_factor = attention_factor;
}

void no_attention_factor(ModelConfig& config) {
  config.rope.attention_factor = 1.0;
}

void heads_dealt_in_turn(ModelConfig& config) {
  for (std::size_t head = 0; head < config.n_heads; ++head) {
    config.kv_head_of[head] = static_cast<std::uint32_t>(head % config.n_kv_heads);
  }
}

void scale_of_hidden_width(ModelConfig& config) {
  const double width = static_cast<double>(config.d_model) / static_cast<double>(config.n_heads);
  config.attention_scale = static_cast<float>(1.0 / std::sqrt(width));
}

struct Mistake {
  std::string_view name;
  void (*plant)(ModelConfig& config);
};

constexpr std::array kMistakes{Mistake{"theta", wrong_theta},
                               Mistake{"halves", halves},
                               Mistake{"eps", no_eps},
                               Mistake{"nope", rope_everywhere},
                               Mistake{"nope-shift", nope_on_other_layers},
                               Mistake{"scaling", no_scaling},
                               Mistake{"ramp", no_ramp},
                               Mistake{"mscale", no_attention_factor},
                               Mistake{"gqa", heads_dealt_in_turn},
                               Mistake{"scale", scale_of_hidden_width}};

}  // namespace

void plant_mistake(ModelConfig& config, std::string_view name) {
  std::string known;
  for (const Mistake& mistake : kMistakes) {
    if (mistake.name == name) {
      mistake.plant(config);
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(mistake.name);
  }
  throw Error(ErrorCode::BadInput,
              "mistake: expected one of " + known + ", found " + std::string(name));
}

}  // namespace smol::conformance
