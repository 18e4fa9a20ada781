// A cache of one KV head with its memory; what was never stored stays NaN.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernel_table.h"

namespace smol::kernels::test {

struct Cache {
  std::vector<std::uint32_t> k, v;
  KvHead head;

  // Room for whole groups of positions.
  Cache(KvType type, std::size_t head_dim, std::size_t n_positions)
      : k((n_positions + kKeyGroup - 1) / kKeyGroup * kKeyGroup * head_dim, 0xFFFFFFFFU),
        v(n_positions * head_dim, 0xFFFFFFFFU),
        head{type, k.data(), v.data(), head_dim} {}

  ~Cache() = default;
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
};

}  // namespace smol::kernels::test
