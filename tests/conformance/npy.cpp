#include "conformance/npy.h"

#include <cstdio>
#include <cstring>
#include <string>

#include "base/error.h"
#include "conformance/conformance.h"

namespace smol::conformance {

FloatMatrix read_npy(const std::filesystem::path& file) {
  const std::string bytes = read_file(file);
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::BadInput, file.string() + ": expected " + what);
  };
  constexpr std::size_t kPrefix = 8;  // magic and version
  if (bytes.size() < kPrefix + 4 || bytes.compare(1, 5, "NUMPY") != 0) {
    fail("an npy file");
  }
  const auto byte_at = [&](std::size_t i) {
    return std::size_t{static_cast<unsigned char>(bytes[i])};
  };
  const bool is_first_version = bytes[6] == 1;
  const std::size_t length = is_first_version ? byte_at(8) | byte_at(9) << 8U
                                              : byte_at(8) | byte_at(9) << 8U | byte_at(10) << 16U;
  const std::size_t begin = kPrefix + (is_first_version ? 2 : 4);
  const std::string header = bytes.substr(begin, length);
  if (header.find("'<f4'") == std::string::npos ||
      header.find("'fortran_order': False") == std::string::npos) {
    fail("little-endian float32 in C order");
  }
  FloatMatrix matrix;
  const std::size_t shape = header.find("'shape': (");
  if (shape == std::string::npos || std::sscanf(header.c_str() + shape, "'shape': (%zu, %zu)",
                                                &matrix.n_rows, &matrix.n_cols) != 2) {
    fail("a matrix");
  }
  matrix.values.resize(matrix.n_rows * matrix.n_cols);
  if (bytes.size() - begin - length != matrix.values.size() * sizeof(float)) {
    fail("as many values as its shape says");
  }
  std::memcpy(matrix.values.data(), bytes.data() + begin + length,
              matrix.values.size() * sizeof(float));
  return matrix;
}

}  // namespace smol::conformance
