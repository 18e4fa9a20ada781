#include "model/cpu/attention.h"

#include <algorithm>
#include <array>
#include <functional>

#include "model/cpu/parallel.h"

namespace smol::model {

namespace {

// Results that wait to be joined, in runs of tokens: enough to occupy every thread, small beside
// the weights.
constexpr std::size_t kMostWaiting = 1024;

std::size_t run_count(std::size_t n_positions) noexcept {
  return (n_positions + kernels::kRun - 1) / kernels::kRun;
}

std::size_t runs_of(const BatchToken& token) noexcept {
  return run_count(std::size_t{token.position} + 1);
}

bool follows(const BatchToken& token, const BatchToken& before) noexcept {
  return token.slot == before.slot && token.position == before.position + 1;
}

}  // namespace

Attention::Attention(const ModelConfig& config, const DecoderOptions& options,
                     const kernels::KernelTable& kernels)
    : kernels_(kernels),
      n_heads_(config.n_heads),
      head_dim_(config.head_dim),
      scale_(config.attention_scale),
      tile_tokens_(kernels::kMostQueries),
      capacity_(std::max(kMostWaiting, run_count(options.context))),
      sums_(capacity_ * n_heads_ * head_dim_),
      partials_(capacity_ * n_heads_) {
  tokens_.reserve(capacity_);
  pieces_.reserve(capacity_);
  for (std::size_t head = 0; head < n_heads_; ++head) {
    const std::size_t kv_head = config.kv_head_of[head];
    const bool is_new = groups_.empty() || groups_.back().kv_head != kv_head ||
                        groups_.back().n_heads == kernels::kMostQueries;
    if (is_new) {
      groups_.push_back({kv_head, head, 0});
    }
    ++groups_.back().n_heads;
    tile_tokens_ = std::min(tile_tokens_, kernels::kMostQueries / groups_.back().n_heads);
  }
}

std::size_t Attention::plan(std::span<const BatchToken> batch, std::size_t first) {
  tokens_.clear();
  pieces_.clear();
  std::size_t used = 0;
  std::size_t token = first;
  std::size_t tile = first;  // its first token
  for (; token < batch.size() && used + runs_of(batch[token]) <= capacity_; ++token) {
    if (token > tile &&
        (token - tile == tile_tokens_ || !follows(batch[token], batch[token - 1]))) {
      add_pieces(batch, tile, token - tile);
      tile = token;
    }
    tokens_.push_back({used * n_heads_, runs_of(batch[token])});
    used += runs_of(batch[token]);
  }
  add_pieces(batch, tile, token - tile);
  return token;
}

void Attention::add_pieces(std::span<const BatchToken> batch, std::size_t first,
                           std::size_t n_tokens) {
  const std::size_t position = batch[first].position;
  for (std::size_t run = 0; run < runs_of(batch[first + n_tokens - 1]); ++run) {
    // Tokens before the run do not see it.
    const std::size_t begin = run * kernels::kRun;
    const std::size_t skipped = begin > position ? begin - position : 0;
    pieces_.push_back({first + skipped, n_tokens - skipped, run});
  }
}

void Attention::add_tiles(const Round& round, std::size_t task, Tiles& tiles) const {
  const std::size_t kv_head = groups_[task / pieces_.size()].kv_head;
  const Piece& piece = pieces_[task % pieces_.size()];
  const BatchToken& token = round.batch[piece.token];
  const std::size_t begin = piece.run * kernels::kRun;
  const std::size_t end = std::min(begin + kernels::kRun, token.position + piece.n_tokens);
  for (std::size_t position = begin; position < end; position += kernels::kStep) {
    tiles.data[tiles.count++] = round.cache.tile(token.slot, round.layer, kv_head, position);
  }
}

void Attention::attend(const Round& round, std::size_t task, std::size_t stop) {
  const HeadGroup& group = groups_[task / pieces_.size()];
  const Piece& piece = pieces_[task % pieces_.size()];
  const BatchToken& token = round.batch[piece.token];
  const std::size_t begin = piece.run * kernels::kRun;
  const kernels::Queries queries{
      .q = round.q + (piece.token * n_heads_ + group.first_head) * head_dim_,
      .token_stride = n_heads_ * head_dim_,
      .n_tokens = piece.n_tokens,
      .n_heads = group.n_heads,
      .n_visible = std::min(kernels::kRun, token.position + 1 - begin),
      .scale = scale_};

  Tiles tiles;
  add_tiles(round, task, tiles);
  if (task + 1 < stop) {
    add_tiles(round, task + 1, tiles);
  }

  const auto index_of = [&](std::size_t t, std::size_t h) {
    const Token& place = tokens_[piece.token - round.first + t];
    return place.first + (group.first_head + h) * place.n_runs + piece.run;
  };
  std::array<kernels::Partial, kernels::kMostQueries> partials;
  for (std::size_t i = 0; i < piece.n_tokens * group.n_heads; ++i) {
    partials[i].acc = &sums_[index_of(i / group.n_heads, i % group.n_heads) * head_dim_];
  }
  kernels_.attend_run({round.cache.format(), tiles.data.data(), tiles.count}, queries,
                      partials.data());
  for (std::size_t i = 0; i < piece.n_tokens * group.n_heads; ++i) {
    partials_[index_of(i / group.n_heads, i % group.n_heads)] = partials[i];
  }
}

void Attention::combine(const Round& round, std::size_t index) {
  const Token& token = tokens_[index];
  float* out = round.out + (round.first + index) * n_heads_ * head_dim_;
  for (std::size_t head = 0; head < n_heads_; ++head) {
    const kernels::Partial* runs = &partials_[token.first + head * token.n_runs];
    kernels_.combine_runs({runs, token.n_runs}, head_dim_, out + head * head_dim_);
  }
}

void Attention::run(ThreadPool& pool, const KvCache& cache, std::size_t layer,
                    std::span<const BatchToken> batch, const float* q, float* out) {
  for (std::size_t first = 0; first < batch.size();) {
    const std::size_t end = plan(batch, first);
    const Round round{pool, cache, layer, batch, first, q, out};
    // Pieces run fastest: neighbours in time read the same keys and values. In ranges, so that a
    // thread knows what it reads next.
    const auto work = [&](std::size_t begin, std::size_t stop) {
      for (std::size_t task = begin; task < stop; ++task) {
        attend(round, task, stop);
      }
    };
    pool.for_ranges(pieces_.size() * groups_.size(), 1, std::cref(work));
    parallel(pool, end - first, [&](std::size_t i) { combine(round, i); });
    first = end;
  }
}

}  // namespace smol::model
