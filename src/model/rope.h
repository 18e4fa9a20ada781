// Rotary position embedding (Su 2021, arXiv:2104.09864) and its scalings: linear (positions divided
// by a factor), YaRN (Peng 2023, arXiv:2309.00071) and per-pair divisors (Llama 3.1,
// `rope_freqs.weight`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smol::model {

enum class RopePairs : std::uint8_t {
  Adjacent,  // (2j, 2j+1): GGUF's permuted rows
  Halves     // (j, j + head_dim/2): Hugging Face's order
};

enum class RopeScalingType : std::uint8_t { None, Linear, Yarn };

// What a file (or the caller's wish for a long context) says about scaling. Applies at every
// position.
struct RopeScaling {
  RopeScalingType type = RopeScalingType::None;
  double factor = 1.0;            // Linear, Yarn: >= 1
  double original_context = 0.0;  // Yarn: positions before scaling, > 0
  double beta_fast = 32.0;        // Yarn: pairs that turn more often than this keep their frequency
  double beta_slow = 1.0;         // Yarn: pairs that turn less often are divided by `factor`
  double attention_factor = 1.0;  // Yarn: multiplies 0.1 ln(factor) + 1
  bool truncate = true;           // Yarn: the ramp's ends are rounded outwards to whole pairs
  std::vector<double> divisors;   // [head_dim / 2] or empty; each > 0
};

struct RopeConfig {
  RopePairs pairs = RopePairs::Adjacent;
  std::vector<double> inv_freq;   // [head_dim / 2] radians per position, scaling applied
  double attention_factor = 1.0;  // YaRN's: multiplies cos and sin
};

// Frequencies of `theta` under `scaling`, computed in double by our own routines.
RopeConfig make_rope(std::size_t head_dim, double theta, const RopeScaling& scaling);

// cos and sin [head_dim / 2] of every pair's angle at `position`, times the attention factor.
void rope_angles(const RopeConfig& rope, std::uint32_t position, std::span<float> cosines,
                 std::span<float> sines) noexcept;

}  // namespace smol::model
