#include "model/cpu/attention.h"

#include <algorithm>

#include "model/cpu/parallel.h"

namespace smol::model {

namespace {

std::size_t run_count(std::size_t n_positions) noexcept {
  return (n_positions + kernels::kRun - 1) / kernels::kRun;
}

}  // namespace

Attention::Attention(const ModelConfig& config, const DecoderOptions& options,
                     const kernels::KernelTable& kernels)
    : kernels_(kernels),
      n_heads_(config.n_heads),
      head_dim_(config.head_dim),
      scale_(config.attention_scale),
      capacity_(std::max(options.max_batch, run_count(options.context))),
      sums_(capacity_ * n_heads_ * head_dim_),
      partials_(capacity_ * n_heads_),
      by_head_(capacity_ * n_heads_) {
  pieces_.reserve(capacity_);
  first_pieces_.reserve(options.max_batch + 1);
  for (std::size_t head = 0; head < n_heads_; ++head) {
    const std::size_t kv_head = config.kv_head_of[head];
    if (groups_.empty() || groups_.back().kv_head != kv_head) {
      groups_.push_back({kv_head, head, 0});
    }
    ++groups_.back().n_heads;
  }
}

std::size_t Attention::plan(std::span<const BatchToken> batch, std::size_t first) {
  pieces_.clear();
  first_pieces_.clear();
  std::size_t token = first;
  for (; token < batch.size(); ++token) {
    const std::size_t n_positions = std::size_t{batch[token].position} + 1;
    if (pieces_.size() + run_count(n_positions) > capacity_) {
      break;
    }
    first_pieces_.push_back(pieces_.size());
    for (std::size_t begin = 0; begin < n_positions; begin += kernels::kRun) {
      pieces_.push_back({token, begin, std::min(begin + kernels::kRun, n_positions)});
    }
  }
  first_pieces_.push_back(pieces_.size());
  return token;
}

void Attention::combine(std::size_t token, std::size_t first_piece, std::size_t n_pieces,
                        float* out) {
  for (std::size_t head = 0; head < n_heads_; ++head) {
    kernels::Partial* runs = &by_head_[head * capacity_ + first_piece];
    for (std::size_t i = 0; i < n_pieces; ++i) {
      runs[i] = partials_[(first_piece + i) * n_heads_ + head];
    }
    kernels_.combine_runs({runs, n_pieces}, head_dim_, out + (token * n_heads_ + head) * head_dim_);
  }
}

void Attention::run(ThreadPool& pool, const KvCache& cache, std::size_t layer,
                    std::span<const BatchToken> batch, const float* q, float* out) {
  for (std::size_t first = 0; first < batch.size();) {
    const std::size_t end = plan(batch, first);
    const std::size_t n_pieces = pieces_.size();
    // Pieces run fastest: neighbours in time read the same keys and values.
    parallel(pool, n_pieces * groups_.size(), [&](std::size_t task) {
      const HeadGroup& group = groups_[task / n_pieces];
      const std::size_t index = task % n_pieces;
      const Piece& piece = pieces_[index];
      kernels::Partial* partials = &partials_[index * n_heads_ + group.first_head];
      for (std::size_t i = 0; i < group.n_heads; ++i) {
        partials[i].acc = &sums_[(index * n_heads_ + group.first_head + i) * head_dim_];
      }
      kernels_.attend_run(cache.head(batch[piece.token].slot, layer, group.kv_head),
                          q + (piece.token * n_heads_ + group.first_head) * head_dim_,
                          group.n_heads, scale_, piece.begin, piece.end, partials);
    });
    parallel(pool, end - first, [&](std::size_t i) {
      combine(first + i, first_pieces_[i], first_pieces_[i + 1] - first_pieces_[i], out);
    });
    first = end;
  }
}

}  // namespace smol::model
