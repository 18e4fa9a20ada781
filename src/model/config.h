// Hyperparameters of a model file (GGUF keys -> ModelConfig). Everything the forward pass branches
// on is data here, so that a test can state a wrong value and see it caught.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gguf/file.h"
#include "model/rope.h"

namespace smol::model {

struct ModelConfig {
  std::string architecture;  // "smollm3" or "llama"
  std::size_t n_layers = 0, d_model = 0, d_ff = 0, n_heads = 0, n_kv_heads = 0, head_dim = 0;
  std::size_t vocab_size = 0;
  std::size_t context_length = 0;  // positions the file was made for (YaRN of the loader included)
  double norm_eps = 0.0;
  double rope_theta = 0.0;
  float attention_scale = 0.0F;  // 1 / sqrt(head_dim)
  RopeScaling rope_scaling;      // what `rope` was made of
  RopeConfig rope;
  std::vector<bool> layer_uses_rope;  // [n_layers]; smollm3: false where (i + 1) % 4 == 0 (NoPE)
  std::vector<std::uint32_t> kv_head_of;  // [n_heads]: h / (n_heads / n_kv_heads)

  // `context`: positions asked for; decides only whether a smollm3 file without stated scaling gets
  // YaRN factor 2. Throws Error{Unsupported} for another architecture (naming those supported) or a
  // context beyond what the file allows, Error{BadInput} for missing or absurd values.
  static ModelConfig from_gguf(const gguf::File& file, std::optional<std::size_t> context);
};

}  // namespace smol::model
