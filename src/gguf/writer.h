// Writes GGUF version 3. Specification: ggml docs/gguf.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "gguf/dtype.h"
#include "gguf/metadata.h"

namespace smol::gguf {

// A tensor to be written.
struct TensorSpec {
  std::string name;
  DType dtype;
  std::vector<std::size_t> shape;  // row-major, as in TensorView; rows are whole blocks

  std::uint64_t size_bytes() const noexcept;
};

// Header, metadata, tensor table and the padding up to the data: all of a file but its tensors'
// bytes, which follow in the same order, each padded with zeros to the alignment. The alignment is
// `general.alignment` of the metadata, or 32.
std::vector<std::byte> serialize_header(std::span<const Metadata::Entry> metadata,
                                        std::span<const TensorSpec> tensors);

// Streams a file to PATH.part and renames it at the end: under PATH there is never half a file. One
// thread.
class Writer {
 public:
  // Writes the header. Throws Error{Io}, as do all other members, when the file cannot be written.
  Writer(std::filesystem::path path, std::span<const Metadata::Entry> metadata,
         std::vector<TensorSpec> tensors);
  // Removes PATH.part unless finish() was called.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  Writer(Writer&&) = delete;
  Writer& operator=(Writer&&) = delete;

  // Appends bytes of the tensor at hand, in pieces of any size; the next tensor begins where it is
  // complete. Requires: not more bytes than that tensor still lacks.
  void append(std::span<const std::byte> bytes);
  // Flushes to the disk and renames. Requires: every tensor is complete.
  void finish();

 private:
  void write_all(std::span<const std::byte> bytes);
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_, part_path_;
  std::vector<TensorSpec> tensors_;
  std::uint64_t alignment_;
  std::size_t current_ = 0;            // index of the tensor at hand
  std::uint64_t current_written_ = 0;  // its bytes so far
  int descriptor_ = -1;
};

}  // namespace smol::gguf
