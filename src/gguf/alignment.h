// Where tensor data may begin: offsets are multiples of the file's alignment.
#pragma once

#include <cstdint>

#include "gguf/metadata.h"

namespace smol::gguf {

// `general.alignment`, or 32. Throws Error{BadInput} for one that is no multiple of 8 or is
// absurdly large.
std::uint64_t alignment_of(const Metadata& metadata);

// Bytes from `size` to the next multiple of `alignment`.
constexpr std::uint64_t padding_after(std::uint64_t size, std::uint64_t alignment) noexcept {
  return (alignment - size % alignment) % alignment;
}

}  // namespace smol::gguf
