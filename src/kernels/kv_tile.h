// The bytes of a tile: keys and values of kStep positions of one KV head in one layer.
//
// F32, F16: keys in groups of 16 positions, each [head_dim, 16] (a position's key is a column), so
// that scores of 16 positions fill the lanes; then values [kStep, head_dim].
//
// Int8: codes of keys [head_dim / 4, kStep, 4] and of values [kStep / 4, head_dim, 4], so that four
// byte products lie beside each other; then the scales of the keys and those of the values, each
// [kStep] halves.
#pragma once

#include <cstddef>

#include "kernels/kernel_table.h"

namespace smol::kernels {

inline constexpr std::size_t kKeyGroup = 16;
inline constexpr std::size_t kScaleBytes = 2;

constexpr std::size_t element_bytes(KvType type) noexcept {
  switch (type) {
    case KvType::F32:
      return 4;
    case KvType::F16:
      return 2;
    case KvType::Int8:
      break;
  }
  return 1;
}

// Where the values begin: the keys take as many bytes.
constexpr std::size_t values_offset(KvFormat format) noexcept {
  return kStep * format.head_dim * element_bytes(format.type);
}

// Where the scales begin, those of the keys first (Int8).
constexpr std::size_t scales_offset(KvFormat format) noexcept {
  return 2 * values_offset(format);
}

// A multiple of 64.
constexpr std::size_t tile_bytes(KvFormat format) noexcept {
  const std::size_t scales = format.type == KvType::Int8 ? 2 * kStep * kScaleBytes : 0;
  return scales_offset(format) + scales;
}

// The element of a key in floats or halves that belongs to dimension 0; that of dimension d lies
// kKeyGroup * d behind.
constexpr std::size_t key_column(std::size_t index, std::size_t head_dim) noexcept {
  return index / kKeyGroup * kKeyGroup * head_dim + index % kKeyGroup;
}

// Where the code of dimension d lies, in bytes, from the keys or from the values on.
constexpr std::size_t key_code(std::size_t index, std::size_t d) noexcept {
  return (d / 4 * kStep + index) * 4 + d % 4;
}

constexpr std::size_t value_code(std::size_t index, std::size_t d, std::size_t head_dim) noexcept {
  return (index / 4 * head_dim + d) * 4 + index % 4;
}

}  // namespace smol::kernels
