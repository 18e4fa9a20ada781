#include "model/weights.h"

#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "gguf/printable.h"

namespace smol::model {

namespace {

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text = "[";
  for (const std::size_t axis : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(axis);
  }
  return text + "]";
}

struct Shape {
  std::size_t n_rows, n_cols;
};

// Takes tensors by name and remembers which.
class TensorTaker {
 public:
  TensorTaker(const gguf::File& file, WeightLoader& loader) : file_(file), loader_(loader) {}

  // `matrix` must stay where it is until the loader has loaded.
  void matrix(const std::string& name, Shape shape, kernels::Matrix& matrix) {
    loader_.plan(take(name, {shape.n_rows, shape.n_cols}), matrix);
  }

  std::vector<float> norm(const std::string& name, std::size_t length) {
    const gguf::TensorView& tensor = take(name, {length});
    if (tensor.dtype != gguf::DType::F32) {
      throw Error(ErrorCode::Unsupported, label(name) + ": expected F32, found " +
                                              std::string(gguf::traits(tensor.dtype).name));
    }
    std::vector<float> values(length);
    file_.read(tensor, 0, std::as_writable_bytes(std::span(values)));
    return values;
  }

  [[nodiscard]] bool has(const std::string& name) const noexcept {
    return file_.find(name) != nullptr;
  }

  // Tensors of the file that nobody took. One inside a layer, or a bias, would change every result.
  [[nodiscard]] std::vector<std::string> rest() const {
    std::vector<std::string> names;
    for (const gguf::TensorView& tensor : file_.tensors()) {
      const std::string name(tensor.name);
      if (taken_.count(name) != 0 || name == "rope_freqs.weight") {
        continue;
      }
      if (name.starts_with("blk.") || name.ends_with(".bias")) {
        throw Error(ErrorCode::Unsupported,
                    label(name) + ": expected no such tensor in this architecture, found it");
      }
      names.push_back(name);
    }
    return names;
  }

 private:
  [[nodiscard]] std::string label(const std::string& name) const {
    return std::string(file_.name()) + ": " + gguf::printable(name);
  }

  const gguf::TensorView& take(const std::string& name, const std::vector<std::size_t>& shape) {
    const gguf::TensorView* tensor = file_.find(name);
    if (tensor == nullptr || tensor->shape != shape) {
      throw Error(ErrorCode::BadInput,
                  label(name) + ": expected " + shape_text(shape) + ", found " +
                      (tensor == nullptr ? "no such tensor" : shape_text(tensor->shape)));
    }
    taken_.insert(name);
    return *tensor;
  }

  const gguf::File& file_;
  WeightLoader& loader_;
  std::set<std::string> taken_;
};

void take_layer(TensorTaker& tensors, const ModelConfig& config, std::size_t layer,
                LayerWeights& weights) {
  const std::string prefix = "blk." + std::to_string(layer) + ".";
  const std::size_t q_width = config.n_heads * config.head_dim;
  const std::size_t kv_width = config.n_kv_heads * config.head_dim;
  weights.attn_norm = tensors.norm(prefix + "attn_norm.weight", config.d_model);
  tensors.matrix(prefix + "attn_q.weight", {q_width, config.d_model}, weights.wq);
  tensors.matrix(prefix + "attn_k.weight", {kv_width, config.d_model}, weights.wk);
  tensors.matrix(prefix + "attn_v.weight", {kv_width, config.d_model}, weights.wv);
  tensors.matrix(prefix + "attn_output.weight", {config.d_model, q_width}, weights.wo);
  weights.ffn_norm = tensors.norm(prefix + "ffn_norm.weight", config.d_model);
  tensors.matrix(prefix + "ffn_gate.weight", {config.d_ff, config.d_model}, weights.w_gate);
  tensors.matrix(prefix + "ffn_up.weight", {config.d_ff, config.d_model}, weights.w_up);
  tensors.matrix(prefix + "ffn_down.weight", {config.d_model, config.d_ff}, weights.w_down);
}

}  // namespace

Weights::Weights(const gguf::File& file, ModelConfig config, ThreadPool& pool,
                 const std::filesystem::path& panel_file)
    : config_(std::move(config)) {
  WeightLoader loader(file);
  TensorTaker tensors(file, loader);
  const Shape vocabulary{config_.vocab_size, config_.d_model};
  tensors.matrix("token_embd.weight", vocabulary, token_embd_);
  layers_.resize(config_.n_layers);
  for (std::size_t layer = 0; layer < config_.n_layers; ++layer) {
    take_layer(tensors, config_, layer, layers_[layer]);
  }
  output_norm_ = tensors.norm("output_norm.weight", config_.d_model);
  const bool is_tied = !tensors.has("output.weight");
  if (!is_tied) {
    tensors.matrix("output.weight", vocabulary, output_);
  }
  unused_ = tensors.rest();
  memory_ = loader.load(pool, panel_file);
  load_report_ = loader.report();
  if (is_tied) {
    output_ = token_embd_;
  }
}

Weights Weights::with_config(ModelConfig config) const {
  Weights other = *this;
  other.config_ = std::move(config);
  return other;
}

}  // namespace smol::model
