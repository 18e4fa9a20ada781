// Seeded random models of a few kilobytes, made in memory: every shape that the decoder claims, and
// every field open to a wrong value.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gguf/file.h"
#include "gguf/quantize.h"
#include "gguf/writer.h"

namespace smol::test {

struct TinySpec {
  std::string architecture = "smollm3";
  std::size_t n_layers = 4, d_model = 64, d_ff = 96, n_heads = 4, n_kv_heads = 2, head_dim = 32;
  std::size_t vocab_size = 40, context_length = 2048;
  gguf::DType dtype = gguf::DType::F32;  // of all matrices: F32 or what quantize() writes
  bool is_tied = true;
  float rope_theta = 10000.0F, norm_eps = 1e-5F;
  std::uint64_t seed = 1;
};

struct TinyTensor {
  std::string name;
  gguf::DType dtype;
  std::vector<std::size_t> shape;
  std::vector<std::byte> bytes;
};

class TinyModel {
 public:
  explicit TinyModel(const TinySpec& spec);
  TinyModel(TinyModel&&) = default;
  TinyModel& operator=(TinyModel&&) = default;
  TinyModel(const TinyModel&) = delete;
  TinyModel& operator=(const TinyModel&) = delete;
  ~TinyModel() = default;

  // Replaces or adds. `key` without "ARCH.": "block_count".
  void set(const std::string& key, gguf::MetadataValue value) {
    set_full(spec_.architecture + "." + key, std::move(value));
  }

  void set_full(const std::string& key, gguf::MetadataValue value);

  // Text must outlive the model: a literal.
  void set_text(const std::string& key, std::string_view literal) { set(key, literal); }

  void erase(const std::string& key);

  TinyTensor& tensor(std::string_view name);
  void erase_tensor(std::string_view name);
  // A float32 tensor of random values.
  void add_tensor(const std::string& name, std::vector<std::size_t> shape, double deviation = 1.0);

  std::vector<std::byte> bytes() const;

 private:
  void add_layer(std::size_t layer);
  void add_matrix(const std::string& name, std::size_t n_rows, std::size_t n_cols, double gain);
  void add_norm(const std::string& name);
  double random() noexcept;  // uniform in [0, 1)
  double normal() noexcept;  // about a standard normal
  std::vector<float> normals(std::size_t count, double deviation);
  void push(const std::string& name, gguf::DType dtype, std::vector<std::size_t> shape,
            std::span<const float> values);

  TinySpec spec_;
  std::uint64_t state_;
  std::list<std::string> keys_;  // what the views in entries_ point to
  std::vector<gguf::Metadata::Entry> entries_;
  std::vector<TinyTensor> tensors_;
};

// A model's bytes and the file read from them.
class TinyFile {
 public:
  explicit TinyFile(const TinyModel& model)
      : bytes_(std::make_unique<std::vector<std::byte>>(model.bytes())),
        file_(gguf::File::parse(*bytes_, "tiny.gguf")) {}

  explicit TinyFile(const TinySpec& spec) : TinyFile(TinyModel(spec)) {}

  const gguf::File& file() const noexcept { return file_; }

 private:
  std::unique_ptr<std::vector<std::byte>> bytes_;
  gguf::File file_;
};

inline TinyModel::TinyModel(const TinySpec& spec) : spec_(spec), state_(spec.seed) {
  const auto count = [](std::size_t n) { return static_cast<std::uint32_t>(n); };
  set_full("general.architecture",
           std::string_view(spec_.architecture == "llama" ? "llama" : "smollm3"));
  set("block_count", count(spec.n_layers));
  set("context_length", count(spec.context_length));
  set("embedding_length", count(spec.d_model));
  set("feed_forward_length", count(spec.d_ff));
  set("attention.head_count", count(spec.n_heads));
  set("attention.head_count_kv", count(spec.n_kv_heads));
  set("attention.key_length", count(spec.head_dim));
  set("attention.value_length", count(spec.head_dim));
  set("attention.layer_norm_rms_epsilon", spec.norm_eps);
  set("rope.freq_base", spec.rope_theta);
  set("rope.dimension_count", count(spec.head_dim));
  add_matrix("token_embd.weight", spec.vocab_size, spec.d_model,
             std::sqrt(static_cast<double>(spec.d_model)));
  for (std::size_t layer = 0; layer < spec.n_layers; ++layer) {
    add_layer(layer);
  }
  add_norm("output_norm.weight");
  if (!spec.is_tied) {
    add_matrix("output.weight", spec.vocab_size, spec.d_model, 2.0);
  }
}

inline void TinyModel::add_layer(std::size_t layer) {
  const std::string prefix = "blk." + std::to_string(layer) + ".";
  const std::size_t q_width = spec_.n_heads * spec_.head_dim;
  const std::size_t kv_width = spec_.n_kv_heads * spec_.head_dim;
  add_norm(prefix + "attn_norm.weight");
  add_matrix(prefix + "attn_q.weight", q_width, spec_.d_model, 1.0);
  add_matrix(prefix + "attn_k.weight", kv_width, spec_.d_model, 1.0);
  add_matrix(prefix + "attn_v.weight", kv_width, spec_.d_model, 1.3);
  add_matrix(prefix + "attn_output.weight", spec_.d_model, q_width, 1.3);
  add_norm(prefix + "ffn_norm.weight");
  add_matrix(prefix + "ffn_gate.weight", spec_.d_ff, spec_.d_model, 1.1);
  add_matrix(prefix + "ffn_up.weight", spec_.d_ff, spec_.d_model, 1.1);
  add_matrix(prefix + "ffn_down.weight", spec_.d_model, spec_.d_ff, 1.1);
}

inline void TinyModel::add_matrix(const std::string& name, std::size_t n_rows, std::size_t n_cols,
                                  double gain) {
  const double deviation = gain / std::sqrt(static_cast<double>(n_cols));
  push(name, spec_.dtype, {n_rows, n_cols}, normals(n_rows * n_cols, deviation));
}

inline void TinyModel::add_norm(const std::string& name) {
  std::vector<float> values(spec_.d_model);
  for (float& value : values) {
    value = static_cast<float>(0.5 + random());
  }
  push(name, gguf::DType::F32, {spec_.d_model}, values);
}

inline void TinyModel::add_tensor(const std::string& name, std::vector<std::size_t> shape,
                                  double deviation) {
  std::size_t count = 1;
  for (const std::size_t axis : shape) {
    count *= axis;
  }
  push(name, gguf::DType::F32, std::move(shape), normals(count, deviation));
}

// splitmix64 (Steele 2014)
inline double TinyModel::random() noexcept {
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-53;
}

// A sum of twelve uniform values has variance 1.
inline double TinyModel::normal() noexcept {
  double sum = -6.0;
  for (int i = 0; i < 12; ++i) {
    sum += random();
  }
  return sum;
}

inline std::vector<float> TinyModel::normals(std::size_t count, double deviation) {
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(normal() * deviation);
  }
  return values;
}

inline void TinyModel::push(const std::string& name, gguf::DType dtype,
                            std::vector<std::size_t> shape, std::span<const float> values) {
  const gguf::DTypeTraits& type = gguf::traits(dtype);
  TinyTensor tensor{name, dtype, std::move(shape), {}};
  tensor.bytes.resize(values.size() / type.block_elements * type.block_bytes);
  if (dtype == gguf::DType::F32) {
    std::memcpy(tensor.bytes.data(), values.data(), values.size_bytes());
  } else {
    gguf::quantize(dtype, values, tensor.bytes);
  }
  tensors_.push_back(std::move(tensor));
}

inline void TinyModel::set_full(const std::string& key, gguf::MetadataValue value) {
  for (auto& [name, held] : entries_) {
    if (name == key) {
      held = std::move(value);
      return;
    }
  }
  keys_.push_back(key);
  entries_.emplace_back(keys_.back(), std::move(value));
}

inline void TinyModel::erase(const std::string& key) {
  const std::string full = spec_.architecture + "." + key;
  std::erase_if(entries_, [&](const auto& entry) { return entry.first == full; });
}

inline TinyTensor& TinyModel::tensor(std::string_view name) {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const TinyTensor& one) { return one.name == name; });
  if (found == tensors_.end()) {
    throw std::out_of_range("no such tensor");
  }
  return *found;
}

inline void TinyModel::erase_tensor(std::string_view name) {
  std::erase_if(tensors_, [&](const TinyTensor& one) { return one.name == name; });
}

inline std::vector<std::byte> TinyModel::bytes() const {
  constexpr std::size_t kAlignment = 32;
  std::vector<gguf::TensorSpec> specs;
  for (const TinyTensor& tensor : tensors_) {
    specs.push_back({tensor.name, tensor.dtype, tensor.shape});
  }
  std::vector<std::byte> bytes = gguf::serialize_header(entries_, specs);
  for (const TinyTensor& tensor : tensors_) {
    bytes.insert(bytes.end(), tensor.bytes.begin(), tensor.bytes.end());
    bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
  }
  return bytes;
}

}  // namespace smol::test
