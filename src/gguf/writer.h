// Writes GGUF version 3. Specification: ggml docs/gguf.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/output_file.h"
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

// Streams a file as OutputFile does: under PATH there is never half a file. One thread.
class Writer {
 public:
  // Writes the header. Throws what OutputFile throws, as do all other members.
  Writer(std::filesystem::path path, std::span<const Metadata::Entry> metadata,
         std::vector<TensorSpec> tensors, OutputRules rules = {});

  // Appends bytes of the tensor at hand, in pieces of any size; the next tensor begins where it is
  // complete. Requires: not more bytes than that tensor still lacks.
  void append(std::span<const std::byte> bytes);
  // Flushes to the disk and renames. Requires: every tensor is complete.
  void finish();

 private:
  OutputFile out_;
  std::vector<TensorSpec> tensors_;
  std::uint64_t alignment_;
  std::size_t current_ = 0;            // index of the tensor at hand
  std::uint64_t current_written_ = 0;  // its bytes so far
};

}  // namespace smol::gguf
