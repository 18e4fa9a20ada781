#include "app/npy.h"

#include <bit>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"

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

NpyWriter::NpyWriter(std::filesystem::path path, std::size_t n_rows, std::size_t n_cols)
    : path_(std::move(path)),
      temporary_(path_.string() + ".part"),
      out_(temporary_, std::ios::binary) {
  static_assert(std::endian::native == std::endian::little);
  out_ << npy_header(n_rows, n_cols);
  if (!out_) {
    throw Error{ErrorCode::Io,
                fmt::format("{}: expected a file that can be written, found none", path_.string())};
  }
}

NpyWriter::~NpyWriter() {
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void NpyWriter::write_row(std::span<const float> row) {
  const auto bytes = std::as_bytes(row);
  std::vector<char> buffer(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    buffer[i] = static_cast<char>(bytes[i]);
  }
  out_.write(buffer.data(), static_cast<std::streamsize>(buffer.size()));
}

void NpyWriter::finish() {
  out_.close();
  std::error_code error;
  if (out_) {
    std::filesystem::rename(temporary_, path_, error);
  }
  if (!out_ || error) {
    throw Error{ErrorCode::Io,
                fmt::format("{}: expected to write all rows, found: {}", path_.string(),
                            error ? error.message() : "no space or no access")};
  }
}

}  // namespace smol::app
