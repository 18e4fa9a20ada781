// The tensor table of a GGUF file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/cursor.h"
#include "gguf/tensor_view.h"

namespace smol::gguf {

// An entry of the table, proven by itself: name, shape, type, size and alignment of the offset.
struct TensorInfo {
  std::string_view name;
  DType dtype;
  std::vector<std::size_t> shape;  // row-major
  std::uint64_t offset;  // from the start of the data section, a multiple of the alignment
  std::uint64_t size_bytes;
};

// Reads `count` entries; the cursor stands behind them afterwards. Throws Error{Unsupported} for an
// unknown type id, Error{BadInput} otherwise.
std::vector<TensorInfo> read_tensor_infos(Cursor& cursor, std::size_t count,
                                          std::uint64_t alignment);

// Indices of `infos` by rising name. Throws Error{BadInput} if a name occurs twice.
std::vector<std::size_t> index_by_name(const Cursor& cursor, std::span<const TensorInfo> infos);

// Proves that every tensor lies inside the data section `data` and that no two overlap.
std::vector<TensorView> place_tensors(const Cursor& cursor, std::span<TensorInfo> infos,
                                      std::span<const std::byte> data);

}  // namespace smol::gguf
