// Tensor element types of GGUF (ggml_type ids) and the size of their blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace smol::gguf {

enum class DType : std::uint32_t {
  F32 = 0,
  F16 = 1,
  Q4_0 = 2,
  Q4_1 = 3,
  Q5_0 = 6,
  Q5_1 = 7,
  Q8_0 = 8,
  Q2_K = 10,
  Q3_K = 11,
  Q4_K = 12,
  Q5_K = 13,
  Q6_K = 14,
  IQ4_NL = 20,
  IQ4_XS = 23,
  BF16 = 30,
};

struct DTypeTraits {
  DType dtype;
  std::string_view name;       // as ggml writes it: "Q4_K"
  std::size_t block_elements;  // a row is a whole number of blocks
  std::size_t block_bytes;
};

// nullopt: an id that this program does not know.
std::optional<DType> dtype_from_id(std::uint32_t id) noexcept;
const DTypeTraits& traits(DType dtype) noexcept;
// Every type this program knows, by falling age.
std::span<const DTypeTraits> all_dtypes() noexcept;

}  // namespace smol::gguf
