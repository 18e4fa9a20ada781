// The forward pass on the CPU, layer by layer as the papers write it. Every step splits its rows or
// tokens over the pool, and what follows a product is done by whoever completes its rows: one token
// waits five times a layer. Nothing allocates.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>

#include "base/check.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "kernels/kernel_table.h"
#include "kernels/panel.h"
#include "model/cpu/attention.h"
#include "model/cpu/caching_decoder.h"
#include "model/cpu/kv_cache.h"
#include "model/cpu/matmul_input.h"
#include "model/cpu/multiplier.h"
#include "model/cpu/parallel.h"
#include "model/cpu/reserved_array.h"
#include "model/decoder.h"
#include "model/weights.h"

namespace smol::model {

namespace {

class CpuDecoder final : public CachingDecoder {
 public:
  CpuDecoder(const Weights& weights, const DecoderOptions& options, ThreadPool& pool,
             const kernels::KernelTable& kernels);

  std::span<const float> forward(std::span<const BatchToken> batch) override;
  void hidden_state(std::size_t token, std::span<float> out) const noexcept override;

  [[nodiscard]] std::span<const float> logit_maxima() const noexcept override {
    return {maxima_.data(), n_wanted_ * n_maxima_};
  }

 private:
  void append_to_slots(std::span<const BatchToken> batch);
  void embed(std::span<const BatchToken> batch);
  void attention_block(std::size_t layer, std::span<const BatchToken> batch);
  void project_qkv(std::size_t layer, std::span<const BatchToken> batch);
  void ffn_block(const LayerWeights& weights, std::size_t n_tokens);
  std::span<const float> compute_logits(std::span<const BatchToken> batch);
  void find_maxima(std::size_t row, std::size_t first, std::size_t count);

  void norm_row(std::size_t token, std::span<const float> weight, InputRow to,
                QuantizedForms forms);
  void rotate_and_store(std::size_t layer, const BatchToken& token, std::size_t row,
                        std::size_t kv_head);
  void add_product(const kernels::Matrix& w, const kernels::Activations& input);

  const Weights& weights_;
  ThreadPool& pool_;
  const kernels::KernelTable& kernels_;
  float norm_eps_;
  std::size_t q_width_, kv_width_;

  Attention attention_;
  MatMulInput input_;       // of rows as wide as the model or its queries
  MatMulInput down_input_;  // of rows [d_ff]
  Multiplier multiplier_;
  ReservedArray<float> x_;                // [max_batch, d_model] residual stream
  ReservedArray<float> y_;                // [max_batch, d_model] a block's input
  ReservedArray<float> added_;            // what a block adds, in groups
  ReservedArray<float> q_;                // [max_batch, n_heads * head_dim]
  ReservedArray<float> k_, v_;            // [max_batch, n_kv_heads * head_dim]
  ReservedArray<float> attended_;         // [max_batch, n_heads * head_dim]
  ReservedArray<float> gate_, up_;        // in groups
  ReservedArray<float> gated_;            // [max_batch, d_ff] if w_down takes floats
  ReservedArray<float> cosines_, sines_;  // [max_batch, head_dim / 2]
  ReservedArray<float> logits_;           // [max_batch, vocab_size]
  std::size_t n_maxima_;
  ReservedArray<float> maxima_;  // [max_batch, n_maxima_]
  std::size_t n_wanted_ = 0;     // rows of both
};

// Rows whose results go on together: whole blocks of activations of either form.
constexpr std::size_t kGroupRows = 256;

// Of a matrix with so many rows.
std::size_t group_count(std::size_t n_rows) noexcept {
  return (n_rows + kGroupRows - 1) / kGroupRows;
}

// A token's results of a group, as ResultLayout::Groups has them.
std::span<float> group_row(const ReservedArray<float>& results, std::size_t group,
                           std::size_t n_tokens, std::size_t token, std::size_t count) noexcept {
  return {results.data() + (group * n_tokens + token) * kGroupRows, count};
}

std::size_t most_groups(const ModelConfig& config) noexcept {
  const std::size_t most_rows = std::max({config.d_model, config.d_ff, config.vocab_size});
  return std::max(group_count(most_rows), config.n_kv_heads);
}

CpuDecoder::CpuDecoder(const Weights& weights, const DecoderOptions& options, ThreadPool& pool,
                       const kernels::KernelTable& kernels)
    : CachingDecoder(weights.config(), options),
      weights_(weights),
      pool_(pool),
      kernels_(kernels),
      norm_eps_(static_cast<float>(config_.norm_eps)),
      q_width_(config_.n_heads * config_.head_dim),
      kv_width_(config_.n_kv_heads * config_.head_dim),
      attention_(config_, options, kernels),
      input_(options.max_batch, std::max(config_.d_model, q_width_), kernels),
      down_input_(options.max_batch, config_.d_ff, kernels),
      multiplier_(pool, kernels, most_groups(config_)),
      x_(options.max_batch * config_.d_model),
      y_(options.max_batch * config_.d_model),
      added_(options.max_batch * group_count(config_.d_model) * kGroupRows),
      q_(options.max_batch * q_width_),
      k_(options.max_batch * kv_width_),
      v_(options.max_batch * kv_width_),
      attended_(options.max_batch * q_width_),
      gate_(options.max_batch * group_count(config_.d_ff) * kGroupRows),
      up_(options.max_batch * group_count(config_.d_ff) * kGroupRows),
      gated_(options.max_batch * config_.d_ff),
      cosines_(options.max_batch * (config_.head_dim / 2)),
      sines_(options.max_batch * (config_.head_dim / 2)),
      logits_(options.max_batch * config_.vocab_size),
      n_maxima_((config_.vocab_size + kMaximumIds - 1) / kMaximumIds),
      maxima_(options.max_batch * n_maxima_) {}

std::span<const float> CpuDecoder::forward(std::span<const BatchToken> batch) {
  append_to_slots(batch);
  embed(batch);
  n_wanted_ = 0;
  for (std::size_t layer = 0; layer < config_.n_layers; ++layer) {
    if (gives_up()) {
      return {};
    }
    attention_block(layer, batch);
    ffn_block(weights_.layers()[layer], batch.size());
  }
  return compute_logits(batch);
}

void CpuDecoder::hidden_state(std::size_t token, std::span<float> out) const noexcept {
  SMOL_CHECK(token < options_.max_batch && out.size() == config_.d_model);
  kernels_.rms_norm(x_.row(token, config_.d_model), weights_.output_norm(), norm_eps_, out);
}

void CpuDecoder::append_to_slots(std::span<const BatchToken> batch) {
  SMOL_CHECK(batch.size() <= options_.max_batch);
  for (const BatchToken& token : batch) {
    SMOL_CHECK(token.token >= 0 && static_cast<std::size_t>(token.token) < config_.vocab_size);
    SMOL_CHECK(token.slot < options_.n_slots);
    SMOL_CHECK(token.position == cache_.n_tokens(token.slot));
    SMOL_CHECK(token.position < options_.context);
    cache_.append(token.slot);
  }
}

void CpuDecoder::embed(std::span<const BatchToken> batch) {
  const kernels::Matrix& table = weights_.token_embd();
  const std::size_t half = config_.head_dim / 2;
  parallel(pool_, batch.size(), [&](std::size_t t) {
    kernels::gather_row(table, static_cast<std::size_t>(batch[t].token),
                        x_.row(t, config_.d_model));
    rope_angles(config_.rope, batch[t].position, cosines_.row(t, half), sines_.row(t, half));
  });
}

// A token of the residual stream, normed, into a row of y_ and the forms that the next products
// want.
void CpuDecoder::norm_row(std::size_t token, std::span<const float> weight, InputRow to,
                          QuantizedForms forms) {
  const std::span<float> normed = y_.row(to.row, config_.d_model);
  kernels_.rms_norm(x_.row(token, config_.d_model), weight, norm_eps_, normed);
  input_.quantize(to, 0, normed, forms);
}

void CpuDecoder::attention_block(std::size_t layer, std::span<const BatchToken> batch) {
  const LayerWeights& w = weights_.layers()[layer];
  const std::size_t n = batch.size();
  const QuantizedForms in_forms = QuantizedForms::of({&w.wq, &w.wk, &w.wv});
  parallel(pool_, n, [&](std::size_t t) { norm_row(t, w.attn_norm, {t, n}, in_forms); });
  project_qkv(layer, batch);
  attention_.run(pool_, cache_, layer, batch, q_.data(), attended_.data());
  const QuantizedForms out_forms = QuantizedForms::of({&w.wo});
  parallel(pool_, n, [&](std::size_t t) {
    input_.quantize({t, n}, 0, attended_.row(t, q_width_), out_forms);
  });
  add_product(w.wo, input_.for_matrix(w.wo, n, attended_.data()));
}

// Queries, keys and values; those of a KV head are rotated and stored when its rows are complete.
void CpuDecoder::project_qkv(std::size_t layer, std::span<const BatchToken> batch) {
  const LayerWeights& w = weights_.layers()[layer];
  const std::size_t n = batch.size();
  const auto product = [&](const kernels::Matrix& matrix, float* y) {
    return Product{&matrix, input_.for_matrix(matrix, n, y_.data()), y,
                   matrix.n_rows / config_.n_kv_heads};
  };
  const std::array qkv{product(w.wq, q_.data()), product(w.wk, k_.data()),
                       product(w.wv, v_.data())};
  multiplier_.run(qkv, [&](std::size_t kv_head) {
    for (std::size_t t = 0; t < n; ++t) {
      rotate_and_store(layer, batch[t], t, kv_head);
    }
  });
}

// One KV head and its query heads.
void CpuDecoder::rotate_and_store(std::size_t layer, const BatchToken& token, std::size_t row,
                                  std::size_t kv_head) {
  const std::size_t head_dim = config_.head_dim;
  const std::size_t n_queries = config_.n_heads / config_.n_kv_heads;
  float* q = q_.row(row, q_width_).data() + kv_head * n_queries * head_dim;
  float* k = k_.row(row, kv_width_).data() + kv_head * head_dim;
  if (config_.layer_uses_rope[layer]) {
    const kernels::Rope rope =
        config_.rope.pairs == RopePairs::Adjacent ? kernels_.rope_adjacent : kernels_.rope_halves;
    const float* cosines = cosines_.row(row, head_dim / 2).data();
    const float* sines = sines_.row(row, head_dim / 2).data();
    rope(q, n_queries, head_dim, cosines, sines);
    rope(k, 1, head_dim, cosines, sines);
  }
  const float* v = v_.row(row, kv_width_).data() + kv_head * head_dim;
  kernels_.kv_store(cache_.format(), cache_.tile(token.slot, layer, kv_head, token.position),
                    token.position % kBlockTokens, k, v);
}

// SwiGLU (Shazeer 2020, arXiv:2002.05202).
void CpuDecoder::ffn_block(const LayerWeights& w, std::size_t n) {
  const QuantizedForms in_forms = QuantizedForms::of({&w.w_gate, &w.w_up});
  parallel(pool_, n, [&](std::size_t t) { norm_row(t, w.ffn_norm, {t, n}, in_forms); });
  const std::array gate_up{Product{&w.w_gate, input_.for_matrix(w.w_gate, n, y_.data()),
                                   gate_.data(), kGroupRows, ResultLayout::Groups},
                           Product{&w.w_up, input_.for_matrix(w.w_up, n, y_.data()), up_.data(),
                                   kGroupRows, ResultLayout::Groups}};
  const QuantizedForms down_forms = QuantizedForms::of({&w.w_down});
  const bool keeps_floats =
      kernels::activation_format(w.w_down.dtype) == kernels::ActivationFormat::F32;
  multiplier_.run(gate_up, [&](std::size_t group) {
    const std::size_t first = group * kGroupRows;
    const std::size_t count = std::min(kGroupRows, config_.d_ff - first);
    for (std::size_t t = 0; t < n; ++t) {
      const std::span<float> gate = group_row(gate_, group, n, t, count);
      const std::span<float> out =
          keeps_floats ? gated_.row(t, config_.d_ff).subspan(first, count) : gate;
      kernels_.swiglu(gate, group_row(up_, group, n, t, count), out);
      down_input_.quantize({t, n}, first, out, down_forms);
    }
  });
  add_product(w.w_down, down_input_.for_matrix(w.w_down, n, gated_.data()));
}

// Adds w times the input to the residual stream.
void CpuDecoder::add_product(const kernels::Matrix& w, const kernels::Activations& input) {
  const Product product{&w, input, added_.data(), kGroupRows, ResultLayout::Groups};
  multiplier_.run({&product, 1}, [&](std::size_t group) {
    const std::size_t first = group * kGroupRows;
    const std::size_t count = std::min(kGroupRows, config_.d_model - first);
    for (std::size_t t = 0; t < input.n_tokens; ++t) {
      kernels_.add(x_.row(t, config_.d_model).subspan(first, count),
                   group_row(added_, group, input.n_tokens, t, count));
    }
  });
}

std::span<const float> CpuDecoder::compute_logits(std::span<const BatchToken> batch) {
  const kernels::Matrix& w = weights_.output();
  const QuantizedForms forms = QuantizedForms::of({&w});
  const auto wants = [](const BatchToken& token) { return token.wants_logits; };
  n_wanted_ = static_cast<std::size_t>(std::count_if(batch.begin(), batch.end(), wants));
  std::size_t row = 0;
  for (std::size_t t = 0; t < batch.size(); ++t) {
    if (wants(batch[t])) {
      norm_row(t, weights_.output_norm(), {row, n_wanted_}, forms);
      ++row;
    }
  }
  if (n_wanted_ > 0) {
    const Product product{&w, input_.for_matrix(w, n_wanted_, y_.data()), logits_.data(),
                          kGroupRows};
    multiplier_.run({&product, 1}, [&](std::size_t group) {
      const std::size_t first = group * kGroupRows;
      for (std::size_t i = 0; i < n_wanted_; ++i) {
        find_maxima(i, first, std::min(kGroupRows, config_.vocab_size - first));
      }
    });
  }
  return {logits_.data(), n_wanted_ * config_.vocab_size};
}

// Of logits [first, first + count) of a row; `first` is a multiple of kMaximumIds.
void CpuDecoder::find_maxima(std::size_t row, std::size_t first, std::size_t count) {
  static_assert(kGroupRows % kMaximumIds == 0);
  const float* logits = logits_.data() + row * config_.vocab_size + first;
  float* maxima = maxima_.data() + row * n_maxima_ + first / kMaximumIds;
  for (std::size_t begin = 0; begin < count; begin += kMaximumIds) {
    float best = -std::numeric_limits<float>::infinity();
    for (std::size_t i = begin; i < std::min(begin + kMaximumIds, count); ++i) {
      best = logits[i] > best ? logits[i] : best;
    }
    maxima[begin / kMaximumIds] = best;
  }
}

}  // namespace

std::unique_ptr<Decoder> make_cpu_decoder(const Weights& weights, const DecoderOptions& options,
                                          ThreadPool& pool, const kernels::KernelTable& kernels) {
  SMOL_CHECK(options.n_slots >= 1 && options.context >= 1 && options.max_batch >= 1);
  const std::size_t most = weights.config().context_length;
  if (options.context > most) {
    throw Error(ErrorCode::Unsupported, "context: expected at most " + std::to_string(most) +
                                            " positions, found " + std::to_string(options.context));
  }
  return std::make_unique<CpuDecoder>(weights, options, pool, kernels);
}

}  // namespace smol::model
