// The bytes of a tile: keys and values of kStep positions of one KV head in one layer.
//
// F32, F16: keys in groups of 16 positions, each [head_dim, 16] (a position's key is a column), so
// that scores of 16 positions fill the lanes; then values [kStep, head_dim].
#pragma once

#include <cstddef>

#include "kernels/kernel_table.h"

namespace smol::kernels {

inline constexpr std::size_t kKeyGroup = 16;

constexpr std::size_t element_bytes(KvType type) noexcept {
  return type == KvType::F32 ? 4 : 2;
}

// Where the values begin: the keys take as many bytes.
constexpr std::size_t values_offset(KvFormat format) noexcept {
  return kStep * format.head_dim * element_bytes(format.type);
}

// A multiple of 64.
constexpr std::size_t tile_bytes(KvFormat format) noexcept {
  return 2 * values_offset(format);
}

// The element of a key that belongs to dimension 0; that of dimension d lies kKeyGroup * d behind.
constexpr std::size_t key_column(std::size_t index, std::size_t head_dim) noexcept {
  return index / kKeyGroup * kKeyGroup * head_dim + index % kKeyGroup;
}

}  // namespace smol::kernels
