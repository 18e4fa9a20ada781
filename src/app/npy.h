// NumPy's array file, format 1.0 (numpy.lib.format): float32, little-endian, C order.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "base/output_file.h"

namespace smol::app {

// A matrix [n_rows, n_cols], written row by row into an OutputFile.
class NpyWriter {
 public:
  // Throws what OutputFile throws, as do the other members.
  NpyWriter(std::filesystem::path path, OutputRules rules, std::size_t n_rows, std::size_t n_cols);

  // Requires: n_cols values, at most n_rows times.
  void write_row(std::span<const float> row);
  void finish();

 private:
  OutputFile out_;
};

// The 128 bytes or more before the data.
std::string npy_header(std::size_t n_rows, std::size_t n_cols);

}  // namespace smol::app
