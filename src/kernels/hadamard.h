// The Walsh-Hadamard transform without its factor 1/sqrt(n): it spreads what stands out in few
// dimensions over all of them, so that codes of one scale lose less, and leaves products of two
// transformed vectors as they were, times n (the rotation of QuaRot, arXiv 2404.00456).
#pragma once

#include <cstddef>
#include <span>

namespace smol::kernels {

// x <- H x in place; x.size() is a power of two. Canonical order: stages of stride 1, 2, 4, ...;
// each replaces x[i], x[i + stride] by their sum and difference.
inline void hadamard(std::span<float> x) noexcept {
  for (std::size_t stride = 1; stride < x.size(); stride *= 2) {
    for (std::size_t from = 0; from < x.size(); from += 2 * stride) {
      for (std::size_t i = from; i < from + stride; ++i) {
        const float a = x[i];
        const float b = x[i + stride];
        x[i] = a + b;
        x[i + stride] = a - b;
      }
    }
  }
}

}  // namespace smol::kernels
