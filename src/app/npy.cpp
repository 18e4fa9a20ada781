#include "app/npy.h"

#include <bit>
#include <utility>

#include <fmt/format.h>

namespace smol::app {

std::string npy_header(std::size_t n_rows, std::size_t n_cols) {
  constexpr std::size_t kAlignment = 64;
  constexpr std::size_t kBeforeText = 10;  // magic, version, length
  std::string text = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}",
                                 n_rows, n_cols);
  const std::size_t unpadded = kBeforeText + text.size() + 1;
  text.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  text += '\n';
  std::string header = "\x93NUMPY";
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(text.size() & 0xffU);
  header += static_cast<char>(text.size() >> 8U);
  return header + text;
}

NpyWriter::NpyWriter(std::filesystem::path path, OutputRules rules, std::size_t n_rows,
                     std::size_t n_cols)
    : out_(std::move(path), rules) {
  static_assert(std::endian::native == std::endian::little);
  out_.write(npy_header(n_rows, n_cols));
}

void NpyWriter::write_row(std::span<const float> row) {
  out_.write(std::as_bytes(row));
}

void NpyWriter::finish() {
  out_.finish();
}

}  // namespace smol::app
