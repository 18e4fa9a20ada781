#include "model/config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/error.h"
#include "gguf/printable.h"
#include "model/config_keys.h"
#include "model/rope_keys.h"

namespace smol::model {

namespace {

// Far beyond any model of these architectures, and small enough that no product of them overflows.
constexpr Range kLayers{1, 1024};
constexpr Range kModelWidth{32, 1U << 16U};
constexpr Range kFeedForwardWidth{32, 1U << 20U};
constexpr Range kHeads{1, 512};
constexpr Range kContext{1, 1U << 20U};  // angles stay where sine and cosine are exact
constexpr std::size_t kMaxVocab = std::size_t{1} << 24U;
constexpr std::size_t kMaxGroup = 8;
constexpr std::size_t kNoPeInterval = 4;  // smollm3: no key states it
constexpr std::size_t kYarnFactor = 2;    // SmolLM3's own extension: twice its native positions
constexpr std::array<std::string_view, 2> kArchitectures{"smollm3", "llama"};

std::string read_architecture(const gguf::File& file) {
  const std::string label = std::string(file.name()) + ": general.architecture: expected ";
  const auto name = file.metadata().string("general.architecture");
  const std::string known = "one of smollm3, llama";
  if (!name) {
    throw Error(ErrorCode::BadInput, label + known + ", found no such key");
  }
  if (std::find(kArchitectures.begin(), kArchitectures.end(), *name) == kArchitectures.end()) {
    throw Error(ErrorCode::Unsupported, label + known + ", found " + gguf::printable(*name));
  }
  return std::string(*name);
}

std::size_t read_head_dim(const ConfigKeys& keys, const ModelConfig& config) {
  constexpr std::string_view kKeyLength = "attention.key_length";
  constexpr std::string_view kValueLength = "attention.value_length";
  constexpr std::string_view kDimensions = "rope.dimension_count";
  constexpr Range kAny{1, 1U << 16U};
  if (!keys.has(kKeyLength) && config.d_model % config.n_heads != 0) {
    keys.fail("attention.head_count",
              "a divisor of embedding_length " + std::to_string(config.d_model),
              std::to_string(config.n_heads));
  }
  const std::size_t head_dim = keys.count_or(kKeyLength, kAny, config.d_model / config.n_heads);
  if (head_dim != 32 && head_dim != 64 && head_dim != 128) {
    throw Error(ErrorCode::Unsupported, keys.label(kKeyLength) +
                                            ": expected heads of 32, 64 or 128, found " +
                                            std::to_string(head_dim));
  }
  for (const std::string_view key : {kValueLength, kDimensions}) {
    const std::size_t length = keys.count_or(key, kAny, head_dim);
    if (length != head_dim) {
      keys.fail(key, std::to_string(head_dim) + " as the length of a head", std::to_string(length));
    }
  }
  return head_dim;
}

void read_heads(const ConfigKeys& keys, ModelConfig& config) {
  constexpr std::string_view kKvHeads = "attention.head_count_kv";
  config.n_heads = keys.count("attention.head_count", kHeads);
  config.n_kv_heads = keys.count_or(kKvHeads, kHeads, config.n_heads);
  const std::size_t group = config.n_heads / config.n_kv_heads;
  if (config.n_heads % config.n_kv_heads != 0) {
    keys.fail(kKvHeads, "a divisor of head_count " + std::to_string(config.n_heads),
              std::to_string(config.n_kv_heads));
  }
  if (group > kMaxGroup) {
    throw Error(ErrorCode::Unsupported,
                keys.label(kKvHeads) + ": expected at most " + std::to_string(kMaxGroup) +
                    " query heads for each, found " + std::to_string(group));
  }
  config.head_dim = read_head_dim(keys, config);
  config.attention_scale =
      static_cast<float>(1.0 / std::sqrt(static_cast<double>(config.head_dim)));
  for (std::size_t head = 0; head < config.n_heads; ++head) {
    config.kv_head_of.push_back(static_cast<std::uint32_t>(head / group));
  }
}

std::size_t read_vocab_size(const gguf::File& file, const ConfigKeys& keys) {
  const gguf::TensorView& embedding = file.tensor("token_embd.weight");
  const std::string label = std::string(file.name()) + ": token_embd.weight: expected ";
  const std::size_t rows = embedding.n_rows();
  if (embedding.shape.size() != 2 || rows > kMaxVocab) {
    throw Error(ErrorCode::BadInput, label + "a matrix of at most " + std::to_string(kMaxVocab) +
                                         " rows, found " + std::to_string(rows));
  }
  if (const auto tokens = file.metadata().strings("tokenizer.ggml.tokens");
      tokens && tokens->size() != rows) {
    throw Error(ErrorCode::BadInput, label + std::to_string(tokens->size()) +
                                         " rows, one for each of tokenizer.ggml.tokens, found " +
                                         std::to_string(rows));
  }
  const std::size_t stated = keys.count_or("vocab_size", {1, kMaxVocab}, rows);
  if (stated != rows) {
    keys.fail("vocab_size", std::to_string(rows) + " as token_embd.weight has rows",
              std::to_string(stated));
  }
  return rows;
}

// What the file itself was made for.
std::size_t stated_context(std::size_t context_length, const RopeScaling& scaling) {
  if (scaling.type != RopeScalingType::Yarn) {
    return context_length;
  }
  const double extended = scaling.original_context * scaling.factor;
  return std::max(context_length,
                  static_cast<std::size_t>(std::min(extended, static_cast<double>(kContext.most))));
}

// A smollm3 file that states no scaling may be read at twice its length, with the YaRN of its
// authors.
void extend_if_asked(ModelConfig& config, std::optional<std::size_t> context) {
  const bool states_none =
      config.rope_scaling.type == RopeScalingType::None && config.rope_scaling.divisors.empty();
  if (config.architecture != "smollm3" || !states_none ||
      context.value_or(0) <= config.context_length) {
    return;
  }
  config.rope_scaling.type = RopeScalingType::Yarn;
  config.rope_scaling.factor = static_cast<double>(kYarnFactor);
  config.rope_scaling.original_context = static_cast<double>(config.context_length);
  config.context_length *= kYarnFactor;
}

void read_positions(const gguf::File& file, const ConfigKeys& keys,
                    std::optional<std::size_t> context, ModelConfig& config) {
  const std::size_t context_length = keys.count("context_length", kContext);
  // Below e the ramp of YaRN, which divides by ln(theta), makes no sense.
  config.rope_theta = keys.real_or("rope.freq_base", 3.0, 1e12, 10000.0);
  config.rope_scaling = read_rope_scaling(file, keys, {context_length, config.head_dim});
  config.context_length = stated_context(context_length, config.rope_scaling);
  extend_if_asked(config, context);
  if (context.value_or(0) > config.context_length) {
    throw Error(ErrorCode::Unsupported, keys.label("context_length") + ": a context of " +
                                            std::to_string(*context) +
                                            " was asked for, this file allows at most " +
                                            std::to_string(config.context_length));
  }
  config.rope = make_rope(config.head_dim, config.rope_theta, config.rope_scaling);
}

}  // namespace

ModelConfig ModelConfig::from_gguf(const gguf::File& file, std::optional<std::size_t> context) {
  ModelConfig config;
  config.architecture = read_architecture(file);
  const ConfigKeys keys(file, config.architecture);
  config.n_layers = keys.count("block_count", kLayers);
  config.d_model = keys.count("embedding_length", kModelWidth);
  config.d_ff = keys.count("feed_forward_length", kFeedForwardWidth);
  for (const auto& [key, width] :
       {std::pair("embedding_length", config.d_model), {"feed_forward_length", config.d_ff}}) {
    if (width % 32 != 0) {
      throw Error(ErrorCode::Unsupported,
                  keys.label(key) + ": expected a multiple of 32, found " + std::to_string(width));
    }
  }
  read_heads(keys, config);
  config.vocab_size = read_vocab_size(file, keys);
  // The sum of squares is float32: a smaller epsilon would vanish in it, a larger one hide the
  // signal.
  config.norm_eps = keys.real("attention.layer_norm_rms_epsilon", 1e-20, 1.0);
  read_positions(file, keys, context, config);
  for (std::size_t layer = 0; layer < config.n_layers; ++layer) {
    const bool is_nope = config.architecture == "smollm3" && (layer + 1) % kNoPeInterval == 0;
    config.layer_uses_rope.push_back(!is_nope);
  }
  return config;
}

}  // namespace smol::model
