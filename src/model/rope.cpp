#include "model/rope.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "kernels/math_double.h"

namespace smol::model {

namespace {

constexpr double kTwoPi = 0x1.921fb54442d18p+2;

// Which pairs YaRN slows down: none up to `low`, all from `high` on, linearly between.
struct Ramp {
  double low, high;

  [[nodiscard]] double at(std::size_t pair) const noexcept {
    return std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
  }
};

Ramp yarn_ramp(std::size_t head_dim, double theta, const RopeScaling& scaling) noexcept {
  const auto d = static_cast<double>(head_dim);
  // The pair (a real number) that turns `turns` times over the original context.
  const auto pair_of = [&](double turns) {
    return d * kernels::log_double(scaling.original_context / (turns * kTwoPi)) /
           (2.0 * kernels::log_double(theta));
  };
  Ramp ramp{pair_of(scaling.beta_fast), pair_of(scaling.beta_slow)};
  if (scaling.truncate) {
    ramp = {std::floor(ramp.low), std::ceil(ramp.high)};
  }
  // The upper bound is d - 1, not d/2 - 1, as in the reference implementation.
  ramp = {std::max(ramp.low, 0.0), std::min(ramp.high, d - 1.0)};
  if (ramp.low == ramp.high) {
    constexpr double kWidth = 0.001;
    ramp.high += kWidth;
  }
  return ramp;
}

}  // namespace

RopeConfig make_rope(std::size_t head_dim, double theta, const RopeScaling& scaling) {
  const std::size_t n_pairs = head_dim / 2;
  SMOL_CHECK(scaling.divisors.empty() || scaling.divisors.size() == n_pairs);
  RopeConfig rope;
  for (std::size_t pair = 0; pair < n_pairs; ++pair) {
    const double exponent = -2.0 * static_cast<double>(pair) / static_cast<double>(head_dim);
    const double frequency = kernels::pow_double(theta, exponent);
    rope.inv_freq.push_back(scaling.divisors.empty() ? frequency
                                                     : frequency / scaling.divisors[pair]);
  }
  if (scaling.type == RopeScalingType::Linear) {
    for (double& frequency : rope.inv_freq) {
      frequency /= scaling.factor;
    }
  } else if (scaling.type == RopeScalingType::Yarn) {
    const Ramp ramp = yarn_ramp(head_dim, theta, scaling);
    for (std::size_t pair = 0; pair < n_pairs; ++pair) {
      double& frequency = rope.inv_freq[pair];
      const double slow = ramp.at(pair);
      frequency = slow * frequency / scaling.factor + (1.0 - slow) * frequency;
    }
    rope.attention_factor =
        (0.1 * kernels::log_double(scaling.factor) + 1.0) * scaling.attention_factor;
  }
  return rope;
}

void rope_angles(const RopeConfig& rope, std::uint32_t position, std::span<float> cosines,
                 std::span<float> sines) noexcept {
  for (std::size_t pair = 0; pair < rope.inv_freq.size(); ++pair) {
    const auto [sine, cosine] =
        kernels::sincos_double(static_cast<double>(position) * rope.inv_freq[pair]);
    cosines[pair] = static_cast<float>(cosine * rope.attention_factor);
    sines[pair] = static_cast<float>(sine * rope.attention_factor);
  }
}

}  // namespace smol::model
