// The forward pass on the CPU, layer by layer as the papers write it. Every step splits its rows or
// tokens over the pool; nothing allocates.
#include <algorithm>
#include <array>
#include <cstring>
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

 private:
  void append_to_slots(std::span<const BatchToken> batch);
  void embed(std::span<const BatchToken> batch);
  void attention_block(std::size_t layer, std::span<const BatchToken> batch);
  void ffn_block(const LayerWeights& weights, std::size_t n_tokens);
  std::span<const float> compute_logits(std::span<const BatchToken> batch);

  // Rows of a product's input: `row` of `n_rows`.
  struct InputRow {
    std::size_t row, n_rows;
  };

  void norm_row(std::span<const float> x, std::span<const float> weight, InputRow to,
                QuantizedForms forms);
  void rotate_and_store(std::size_t layer, const BatchToken& token, std::size_t row);
  void add_to_residual(std::size_t n_tokens);

  const Weights& weights_;
  ThreadPool& pool_;
  const kernels::KernelTable& kernels_;
  float norm_eps_;
  std::size_t q_width_, kv_width_;

  Attention attention_;
  MatMulInput input_;
  ReservedArray<float> x_;                // [max_batch, d_model] residual stream
  ReservedArray<float> y_;                // [max_batch, d_model] what a block adds to it
  ReservedArray<float> q_;                // [max_batch, n_heads * head_dim]
  ReservedArray<float> k_, v_;            // [max_batch, n_kv_heads * head_dim]
  ReservedArray<float> gate_, up_;        // [max_batch, d_ff]
  ReservedArray<float> cosines_, sines_;  // [max_batch, head_dim / 2]
  ReservedArray<float> logits_;           // [max_batch, vocab_size]
};

std::size_t widest(const ModelConfig& config) noexcept {
  return std::max({config.d_model, config.d_ff, config.n_heads * config.head_dim});
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
      input_(options.max_batch, widest(config_), kernels),
      x_(options.max_batch * config_.d_model),
      y_(options.max_batch * config_.d_model),
      q_(options.max_batch * q_width_),
      k_(options.max_batch * kv_width_),
      v_(options.max_batch * kv_width_),
      gate_(options.max_batch * config_.d_ff),
      up_(options.max_batch * config_.d_ff),
      cosines_(options.max_batch * (config_.head_dim / 2)),
      sines_(options.max_batch * (config_.head_dim / 2)),
      logits_(options.max_batch * config_.vocab_size) {}

std::span<const float> CpuDecoder::forward(std::span<const BatchToken> batch) {
  append_to_slots(batch);
  embed(batch);
  for (std::size_t layer = 0; layer < config_.n_layers; ++layer) {
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

// One row into `input_`: the residual stream, normed, in the forms that the next products want.
void CpuDecoder::norm_row(std::span<const float> x, std::span<const float> weight, InputRow to,
                          QuantizedForms forms) {
  kernels_.rms_norm(x, weight, norm_eps_, input_.row(to.row, config_.d_model));
  input_.quantize(to.row, to.n_rows, config_.d_model, forms);
}

void CpuDecoder::rotate_and_store(std::size_t layer, const BatchToken& token, std::size_t row) {
  const std::size_t head_dim = config_.head_dim;
  float* k = k_.row(row, kv_width_).data();
  if (config_.layer_uses_rope[layer]) {
    const kernels::Rope rope =
        config_.rope.pairs == RopePairs::Adjacent ? kernels_.rope_adjacent : kernels_.rope_halves;
    const float* cosines = cosines_.row(row, head_dim / 2).data();
    const float* sines = sines_.row(row, head_dim / 2).data();
    rope(q_.row(row, q_width_).data(), config_.n_heads, head_dim, cosines, sines);
    rope(k, config_.n_kv_heads, head_dim, cosines, sines);
  }
  const float* v = v_.row(row, kv_width_).data();
  for (std::size_t head = 0; head < config_.n_kv_heads; ++head) {
    kernels_.kv_store(cache_.format(), cache_.tile(token.slot, layer, head, token.position),
                      token.position % kBlockTokens, k + head * head_dim, v + head * head_dim);
  }
}

void CpuDecoder::attention_block(std::size_t layer, std::span<const BatchToken> batch) {
  const LayerWeights& w = weights_.layers()[layer];
  const std::size_t n = batch.size();
  const QuantizedForms qkv_forms = QuantizedForms::of({&w.wq, &w.wk, &w.wv});
  parallel(pool_, n, [&](std::size_t t) {
    norm_row(x_.row(t, config_.d_model), w.attn_norm, {t, n}, qkv_forms);
  });
  const std::array qkv{Product{&w.wq, input_.for_matrix(w.wq, n), q_.data()},
                       Product{&w.wk, input_.for_matrix(w.wk, n), k_.data()},
                       Product{&w.wv, input_.for_matrix(w.wv, n), v_.data()}};
  multiply(pool_, kernels_, qkv);
  parallel(pool_, n, [&](std::size_t t) { rotate_and_store(layer, batch[t], t); });

  attention_.run(pool_, cache_, layer, batch, q_.data(), input_.row(0, q_width_).data());
  const QuantizedForms out_forms = QuantizedForms::of({&w.wo});
  parallel(pool_, n, [&](std::size_t t) { input_.quantize(t, n, q_width_, out_forms); });
  const std::array out{Product{&w.wo, input_.for_matrix(w.wo, n), y_.data()}};
  multiply(pool_, kernels_, out);
  add_to_residual(n);
}

// SwiGLU (Shazeer 2020, arXiv:2002.05202).
void CpuDecoder::ffn_block(const LayerWeights& w, std::size_t n) {
  const QuantizedForms in_forms = QuantizedForms::of({&w.w_gate, &w.w_up});
  parallel(pool_, n, [&](std::size_t t) {
    norm_row(x_.row(t, config_.d_model), w.ffn_norm, {t, n}, in_forms);
  });
  const std::array gate_up{Product{&w.w_gate, input_.for_matrix(w.w_gate, n), gate_.data()},
                           Product{&w.w_up, input_.for_matrix(w.w_up, n), up_.data()}};
  multiply(pool_, kernels_, gate_up);
  const QuantizedForms down_forms = QuantizedForms::of({&w.w_down});
  parallel(pool_, n, [&](std::size_t t) {
    kernels_.swiglu(gate_.row(t, config_.d_ff), up_.row(t, config_.d_ff),
                    input_.row(t, config_.d_ff));
    input_.quantize(t, n, config_.d_ff, down_forms);
  });
  const std::array down{Product{&w.w_down, input_.for_matrix(w.w_down, n), y_.data()}};
  multiply(pool_, kernels_, down);
  add_to_residual(n);
}

void CpuDecoder::add_to_residual(std::size_t n_tokens) {
  parallel(pool_, n_tokens, [&](std::size_t t) {
    kernels_.add(x_.row(t, config_.d_model), y_.row(t, config_.d_model));
  });
}

std::span<const float> CpuDecoder::compute_logits(std::span<const BatchToken> batch) {
  const kernels::Matrix& w = weights_.output();
  const QuantizedForms forms = QuantizedForms::of({&w});
  const auto wants = [](const BatchToken& token) { return token.wants_logits; };
  const auto n_wanted = static_cast<std::size_t>(std::count_if(batch.begin(), batch.end(), wants));
  std::size_t row = 0;
  for (std::size_t t = 0; t < batch.size(); ++t) {
    if (wants(batch[t])) {
      norm_row(x_.row(t, config_.d_model), weights_.output_norm(), {row, n_wanted}, forms);
      ++row;
    }
  }
  if (n_wanted > 0) {
    const std::array out{Product{&w, input_.for_matrix(w, n_wanted), logits_.data()}};
    multiply(pool_, kernels_, out);
  }
  return {logits_.data(), n_wanted * config_.vocab_size};
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
