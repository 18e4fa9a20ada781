// What is cached of one KV head, with its memory; what was never stored stays NaN.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/kernel_table.h"
#include "kernels/kv_tile.h"

namespace smol::kernels::test {

class Cache {
 public:
  Cache(KvType type, std::size_t head_dim, std::size_t n_positions)
      : format_{type, head_dim},
        bytes_((n_positions + kStep - 1) / kStep * tile_bytes(format_), std::byte{0xFF}) {
    for (std::size_t at = 0; at < bytes_.size(); at += tile_bytes(format_)) {
      tiles_.push_back(bytes_.data() + at);
    }
  }

  ~Cache() = default;
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  KvFormat format() const { return format_; }

  const std::vector<std::byte>& bytes() const { return bytes_; }

  void store(const KernelTable& table, std::size_t position, const std::vector<float>& key,
             const std::vector<float>& value) {
    table.kv_store(format_, bytes_.data() + position / kStep * tile_bytes(format_),
                   position % kStep, key.data(), value.data());
  }

  // The run that begins at position run * kRun.
  KvRuns run(std::size_t run) const {
    const std::size_t first = run * kTilesPerRun;
    return {format_, tiles_.data() + first, tiles_.size() - first};
  }

 private:
  KvFormat format_;
  std::vector<std::byte> bytes_;
  std::vector<const std::byte*> tiles_;
};

}  // namespace smol::kernels::test
