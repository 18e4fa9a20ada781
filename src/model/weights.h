// Every tensor of a model, found and shape-checked once, and loaded into memory as the kernels read
// it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "gguf/file.h"
#include "kernels/kernel_table.h"
#include "model/config.h"
#include "model/weight_loader.h"

namespace smol::model {

// Shapes [out, in].
struct LayerWeights {
  std::vector<float> attn_norm;  // [d_model]
  kernels::Matrix wq;            // [n_heads * head_dim, d_model]
  kernels::Matrix wk, wv;        // [n_kv_heads * head_dim, d_model]
  kernels::Matrix wo;            // [d_model, n_heads * head_dim]
  std::vector<float> ffn_norm;   // [d_model]
  kernels::Matrix w_gate, w_up;  // [d_ff, d_model]
  kernels::Matrix w_down;        // [d_model, d_ff]
};

// Immutable; any thread. A copy shares the memory of the matrices. The file is not needed any more.
class Weights {
 public:
  // Reads the file's tensors, each once. Throws Error{BadInput} for a missing tensor or another
  // shape ("blk.3.attn_k.weight: expected [512, 2048], found [512, 1024]"), Error{Unsupported} for
  // a tensor in a layer that this program would have to ignore, as a bias, Error{Exhausted} without
  // memory for them, Error{Io} if the file cannot be read. The pool's threads read together.
  // `panel_file`: see WeightLoader::load().
  Weights(const gguf::File& file, ModelConfig config, ThreadPool& pool,
          const std::filesystem::path& panel_file = {});

  // The same matrices under another configuration, which must give them the same shapes.
  [[nodiscard]] Weights with_config(ModelConfig config) const;

  [[nodiscard]] const ModelConfig& config() const noexcept { return config_; }

  // [vocab_size, d_model]
  [[nodiscard]] const kernels::Matrix& token_embd() const noexcept { return token_embd_; }

  [[nodiscard]] const std::vector<LayerWeights>& layers() const noexcept { return layers_; }

  [[nodiscard]] const std::vector<float>& output_norm() const noexcept { return output_norm_; }

  // [vocab_size, d_model]; the embedding where the file has no output.weight (tied).
  [[nodiscard]] const kernels::Matrix& output() const noexcept { return output_; }

  // Names of tensors outside the layers that take no part.
  [[nodiscard]] const std::vector<std::string>& unused() const noexcept { return unused_; }

  // All matrices, one after the other.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return memory_.bytes; }

  [[nodiscard]] const LoadReport& load_report() const noexcept { return load_report_; }

 private:
  ModelConfig config_;
  kernels::Matrix token_embd_{};
  std::vector<LayerWeights> layers_;
  std::vector<float> output_norm_;
  kernels::Matrix output_{};
  std::vector<std::string> unused_;
  WeightMemory memory_;
  LoadReport load_report_;
};

}  // namespace smol::model
