// NumPy's array files, as far as the references use them: version 1 or 2, little-endian float32, C
// order.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace smol::conformance {

struct FloatMatrix {
  std::size_t n_rows = 0, n_cols = 0;
  std::vector<float> values;  // [n_rows, n_cols]
};

// Throws Error{NotFound, BadInput}: anything but a matrix of "<f4".
FloatMatrix read_npy(const std::filesystem::path& file);

}  // namespace smol::conformance
