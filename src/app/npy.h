// NumPy's array file, format 1.0 (numpy.lib.format): float32, little-endian, C order.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

namespace smol::app {

// A matrix [n_rows, n_cols], written row by row. Until finish() the file has a temporary name; a
// writer that ends without it leaves nothing.
class NpyWriter {
 public:
  // Throws Error{Io} if the file cannot be made.
  NpyWriter(std::filesystem::path path, std::size_t n_rows, std::size_t n_cols);
  ~NpyWriter();
  NpyWriter(const NpyWriter&) = delete;
  NpyWriter& operator=(const NpyWriter&) = delete;

  // Requires: n_cols values, at most n_rows times.
  void write_row(std::span<const float> row);
  // Throws Error{Io} if anything could not be written.
  void finish();

 private:
  std::filesystem::path path_, temporary_;
  std::ofstream out_;
};

// The 128 bytes or more before the data.
std::string npy_header(std::size_t n_rows, std::size_t n_cols);

}  // namespace smol::app
