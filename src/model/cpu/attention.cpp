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

// So many tasks for each thread that the last ones end together.
constexpr std::size_t kTasksPerThread = 8;

std::size_t run_count(std::size_t n_positions) noexcept {
  return (n_positions + kernels::kRun - 1) / kernels::kRun;
}

std::size_t runs_of(const BatchToken& token) noexcept {
  return run_count(std::size_t{token.position} + 1);
}

// Tokens from this one on that lie before a run and see nothing of it.
std::size_t hidden_from(const BatchToken& token, std::size_t run) noexcept {
  const std::size_t begin = run * kernels::kRun;
  return begin > token.position ? begin - token.position : 0;
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

std::size_t Attention::plan(std::span<const BatchToken> batch, std::size_t first, bool whole) {
  tokens_.clear();
  pieces_.clear();
  std::size_t used = 0;
  std::size_t token = first;
  std::size_t tile = first;  // its first token
  for (; token < batch.size(); ++token) {
    const std::size_t n_parts = whole ? 1 : runs_of(batch[token]);
    if (used + n_parts > capacity_) {
      break;
    }
    if (token > tile &&
        (token - tile == tile_tokens_ || !follows(batch[token], batch[token - 1]))) {
      add_pieces(batch, tile, token - tile, whole);
      tile = token;
    }
    tokens_.push_back({used * n_heads_, n_parts});
    used += n_parts;
  }
  add_pieces(batch, tile, token - tile, whole);
  return token;
}

void Attention::add_pieces(std::span<const BatchToken> batch, std::size_t first,
                           std::size_t n_tokens, bool whole) {
  const std::size_t n_runs = runs_of(batch[first + n_tokens - 1]);
  if (whole) {
    pieces_.push_back({first, n_tokens, 0, n_runs});
    return;
  }
  for (std::size_t run = 0; run < n_runs; ++run) {
    const std::size_t hidden = hidden_from(batch[first], run);
    pieces_.push_back({first + hidden, n_tokens - hidden, run, 1});
  }
}

void Attention::add_tiles(const Round& round, std::size_t task, std::size_t first_run,
                          std::size_t n_runs, Tiles& tiles) const {
  const std::size_t kv_head = groups_[task / pieces_.size()].kv_head;
  const Piece& piece = pieces_[task % pieces_.size()];
  const BatchToken& token = round.batch[piece.token];
  const std::size_t end =
      std::min((first_run + n_runs) * kernels::kRun, token.position + piece.n_tokens);
  for (std::size_t position = first_run * kernels::kRun; position < end;
       position += kernels::kStep) {
    tiles.data[tiles.count++] = round.cache.tile(token.slot, round.layer, kv_head, position);
  }
}

void Attention::attend_runs(const Round& round, std::size_t task, std::size_t stop,
                            std::size_t first_run, kernels::Partial* partials) const {
  const HeadGroup& group = groups_[task / pieces_.size()];
  const Piece& piece = pieces_[task % pieces_.size()];
  const std::size_t n_runs = std::min(kRunsPerCall, piece.run + piece.n_runs - first_run);
  const std::size_t hidden = hidden_from(round.batch[piece.token], first_run);
  const std::size_t position = round.batch[piece.token].position + hidden;
  const std::size_t begin = first_run * kernels::kRun;
  const kernels::Queries queries{
      .q = round.q + ((piece.token + hidden) * n_heads_ + group.first_head) * head_dim_,
      .token_stride = n_heads_ * head_dim_,
      .n_tokens = piece.n_tokens - hidden,
      .n_heads = group.n_heads,
      .n_visible = std::min(n_runs * kernels::kRun, position + 1 - begin),
      .n_runs = n_runs,
      .scale = scale_,
      .continues = first_run > piece.run};

  Tiles tiles;
  add_tiles(round, task, first_run, n_runs, tiles);
  if (first_run + n_runs < piece.run + piece.n_runs) {
    add_tiles(round, task, first_run + n_runs, 1, tiles);
  } else if (task + 1 < stop) {
    add_tiles(round, task + 1, pieces_[(task + 1) % pieces_.size()].run, 1, tiles);
  }
  kernels_.attend({round.cache.format(), tiles.data.data(), tiles.count}, queries,
                  partials + hidden * group.n_heads);
}

void Attention::attend_run(const Round& round, std::size_t task, std::size_t stop) {
  const HeadGroup& group = groups_[task / pieces_.size()];
  const Piece& piece = pieces_[task % pieces_.size()];
  const auto index_of = [&](std::size_t i) {
    const Token& place = tokens_[piece.token - round.first + i / group.n_heads];
    return place.first + (group.first_head + i % group.n_heads) * place.n_parts + piece.run;
  };
  std::array<kernels::Partial, kernels::kMostQueries> partials;
  for (std::size_t i = 0; i < piece.n_tokens * group.n_heads; ++i) {
    partials[i].acc = &sums_[index_of(i) * head_dim_];
  }
  attend_runs(round, task, stop, piece.run, partials.data());
  for (std::size_t i = 0; i < piece.n_tokens * group.n_heads; ++i) {
    partials_[index_of(i)] = partials[i];
  }
}

void Attention::attend_whole(const Round& round, std::size_t task, std::size_t stop) const {
  const HeadGroup& group = groups_[task / pieces_.size()];
  const Piece& piece = pieces_[task % pieces_.size()];
  std::array<float, kernels::kMostQueries * kernels::kMostHeadDim> acc;
  std::array<kernels::Partial, kernels::kMostQueries> partials;
  for (std::size_t i = 0; i < piece.n_tokens * group.n_heads; ++i) {
    partials[i].acc = acc.data() + i * head_dim_;
  }
  for (std::size_t run = 0; run < piece.n_runs; run += kRunsPerCall) {
    attend_runs(round, task, stop, run, partials.data());
  }
  for (std::size_t i = 0; i < piece.n_tokens * group.n_heads; ++i) {
    const std::size_t token = piece.token + i / group.n_heads;
    const std::size_t head = group.first_head + i % group.n_heads;
    kernels_.combine_runs({&partials[i], 1}, head_dim_,
                          round.out + (token * n_heads_ + head) * head_dim_);
  }
}

void Attention::combine(const Round& round, std::size_t index) const {
  const Token& token = tokens_[index];
  float* out = round.out + (round.first + index) * n_heads_ * head_dim_;
  for (std::size_t head = 0; head < n_heads_; ++head) {
    const kernels::Partial* parts = &partials_[token.first + head * token.n_parts];
    kernels_.combine_runs({parts, token.n_parts}, head_dim_, out + head * head_dim_);
  }
}

void Attention::run(ThreadPool& pool, const KvCache& cache, std::size_t layer,
                    std::span<const BatchToken> batch, const float* q, float* out) {
  const bool whole = batch.size() / tile_tokens_ * groups_.size() >= kTasksPerThread * pool.size();
  for (std::size_t first = 0; first < batch.size();) {
    const std::size_t end = plan(batch, first, whole);
    const Round round{cache, layer, batch, first, q, out};
    // Pieces run fastest: neighbours in time read the same keys and values. In ranges, so that a
    // thread knows what it reads next.
    const auto work = [&](std::size_t begin, std::size_t stop) {
      for (std::size_t task = begin; task < stop; ++task) {
        whole ? attend_whole(round, task, stop) : attend_run(round, task, stop);
      }
    };
    pool.for_ranges(pieces_.size() * groups_.size(), 1, std::cref(work));
    if (!whole) {
      parallel(pool, end - first, [&](std::size_t i) { combine(round, i); });
    }
    first = end;
  }
}

}  // namespace smol::model
