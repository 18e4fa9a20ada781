// Grouped-query attention (Ainslie 2023, arXiv:2305.13245) over the cache, in runs of kRun
// positions counted from 0 (flash-decoding): the order of operations depends on the position alone,
// never on batch or threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/kernel_table.h"
#include "model/config.h"
#include "model/cpu/kv_cache.h"
#include "model/cpu/reserved_array.h"
#include "model/decoder.h"

namespace smol::model {

class Attention {
 public:
  Attention(const ModelConfig& config, const DecoderOptions& options,
            const kernels::KernelTable& kernels);

  // Keys and values of the batch must be in the cache. q, out [batch, n_heads * head_dim].
  void run(ThreadPool& pool, const KvCache& cache, std::size_t layer,
           std::span<const BatchToken> batch, const float* q, float* out);

 private:
  // Neighbouring query heads that read the same KV head.
  struct HeadGroup {
    std::size_t kv_head, first_head, n_heads;
  };

  // Where the results of one token wait to be joined: head h, run r at first + h * n_parts + r.
  struct Token {
    std::size_t first, n_parts;
  };

  // Tokens of one slot at successive positions that read runs together, so that their keys and
  // values are loaded once for all of them: one run, or all that they see.
  struct Piece {
    std::size_t token, n_tokens;  // in the batch
    std::size_t run, n_runs;
  };

  static constexpr std::size_t kRunsPerCall = 8;

  // Of the runs of a call and of the one that is read after them.
  struct Tiles {
    std::array<const std::byte*, (kRunsPerCall + 1) * kernels::kTilesPerRun> data{};
    std::size_t count = 0;
  };

  // A part of a layer's attention that fits the memory for results.
  struct Round {
    const KvCache& cache;
    std::size_t layer;
    std::span<const BatchToken> batch;
    std::size_t first;  // token that tokens_ begins with
    const float* q;
    float* out;
  };

  // Lists the pieces of as many tokens from `first` on as there is room for; returns the token
  // after them. Where there are few tiles, their runs are pieces of their own, whose results are
  // combined at the end.
  std::size_t plan(std::span<const BatchToken> batch, std::size_t first, bool whole);
  void add_pieces(std::span<const BatchToken> batch, std::size_t first, std::size_t n_tokens,
                  bool whole);
  // A task is a piece for a group, pieces fastest. Those up to `stop` follow it.
  void add_tiles(const Round& round, std::size_t task, std::size_t first_run, std::size_t n_runs,
                 Tiles& tiles) const;
  void attend_runs(const Round& round, std::size_t task, std::size_t stop, std::size_t first_run,
                   kernels::Partial* partials) const;
  void attend_run(const Round& round, std::size_t task, std::size_t stop);
  void attend_whole(const Round& round, std::size_t task, std::size_t stop) const;
  void combine(const Round& round, std::size_t index) const;

  const kernels::KernelTable& kernels_;
  std::size_t n_heads_, head_dim_;
  float scale_;
  std::vector<HeadGroup> groups_;
  std::size_t tile_tokens_;                   // most tokens of a piece
  std::size_t capacity_;                      // runs of tokens
  std::vector<Token> tokens_;                 // planned
  std::vector<Piece> pieces_;                 // of all of them, for each group
  ReservedArray<float> sums_;                 // [capacity * n_heads, head_dim]
  ReservedArray<kernels::Partial> partials_;  // [capacity * n_heads]
};

}  // namespace smol::model
