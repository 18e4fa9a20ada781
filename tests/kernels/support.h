// Random weights, activations and memory for the kernel tests.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>
#include <vector>

#include "gguf/dtype.h"
#include "kernels/kernel_table.h"

namespace smol::kernels::test {

using Random = std::mt19937;

inline std::uint32_t random_bits(Random& random) {
  return static_cast<std::uint32_t>(random());
}

std::vector<float> normal_floats(Random& random, std::size_t n, float sigma = 1.0F);

std::vector<gguf::DType> all_types();

// A list that may be written with plain literals.
inline std::vector<std::size_t> sizes(std::initializer_list<std::size_t> list) {
  return list;
}

// What the blocks of a test matrix look like.
enum class Fill {
  Normal,       // random codes, moderate scales
  AllOnes,      // every code and integer scale with all bits set
  AllZeros,     // every code and integer scale 0
  SignBits,     // bytes of 0x80: the most negative int8 codes and scales
  TinyScales,   // random codes, subnormal half scales
  LargeScales,  // random codes, the largest half scales
  ZeroScales,   // random codes, scales of both zeros
};
inline constexpr std::array kAllFills{Fill::Normal,    Fill::AllOnes,    Fill::AllZeros,
                                      Fill::SignBits,  Fill::TinyScales, Fill::LargeScales,
                                      Fill::ZeroScales};

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A matrix with its bytes: in rows as in a file, and as the kernels want it.
class TestMatrix {
 public:
  TestMatrix(gguf::DType dtype, std::size_t n_rows, std::size_t n_cols);

  // The rows' bytes; pack() after a change.
  std::vector<std::byte>& bytes() { return bytes_; }

  const std::vector<std::byte>& bytes() const { return bytes_; }

  void pack();

  // In rows, whatever the type.
  Matrix in_rows() const;
  // In panels where the type has them.
  Matrix view() const;

 private:
  gguf::DType dtype_;
  std::size_t n_rows_, n_cols_, row_bytes_;
  std::vector<std::byte> bytes_;
  std::vector<std::byte> storage_;
  std::byte* packed_;  // in storage_
};

// Finite weights.
TestMatrix make_matrix(Random& random, gguf::DType dtype, std::size_t n_rows, std::size_t n_cols,
                       Fill fill);

// Activations with their memory.
struct TestActivations {
  std::vector<float> f32;
  std::vector<std::int8_t> codes;
  std::vector<float> scales;
  std::vector<std::int16_t> sums, joined, peaks;
  Activations view;
};

// Quantized by `table` in the format of `weights`.
TestActivations quantize_for(const KernelTable& table, gguf::DType weights, std::vector<float> x,
                             std::size_t n_cols);

// Whether two results are the same: equal bytes, or both NaN.
inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool both_nan = std::isnan(a[i]) && std::isnan(b[i]);
    if (!both_nan && std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace smol::kernels::test
