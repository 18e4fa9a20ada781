// Grouped-query attention (Ainslie 2023, arXiv:2305.13245) over the cache, in runs of kRun
// positions counted from 0 (flash-decoding): the order of operations depends on the position alone,
// never on batch or threads.
#pragma once

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

  // One run of one token.
  struct Piece {
    std::size_t token, begin, end;  // positions [begin, end)
  };

  // Lists the runs of as many tokens from `first` on as there is room for; returns the token after
  // them.
  std::size_t plan(std::span<const BatchToken> batch, std::size_t first);
  void combine(std::size_t token, std::size_t first_piece, std::size_t n_pieces, float* out);

  const kernels::KernelTable& kernels_;
  std::size_t n_heads_, head_dim_;
  float scale_;
  std::vector<HeadGroup> groups_;
  std::size_t capacity_;                      // pieces
  std::vector<Piece> pieces_;                 // [<= capacity]
  std::vector<std::size_t> first_pieces_;     // of each planned token, and the end
  ReservedArray<float> sums_;                 // [capacity, n_heads, head_dim]
  ReservedArray<kernels::Partial> partials_;  // [capacity, n_heads]
  ReservedArray<kernels::Partial> by_head_;   // [n_heads, capacity]: the same, as they are combined
};

}  // namespace smol::model
