// GGUF version 2 and 3, little-endian: header, metadata, tensor table, data.
// Everything in the file is proven here, once: counts, lengths, offsets, alignment, types,
// overlaps, with overflow-safe arithmetic, and no allocation that the file's size could not
// justify. Specification: ggml docs/gguf.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "base/mapped_file.h"
#include "gguf/metadata.h"
#include "gguf/tensor_view.h"

namespace smol::gguf {

// Owns the mapping; immutable, any thread. Views stay valid while the File lives, also after a
// move.
class File {
 public:
  // Throws Error{NotFound, Io} from the file system, Error{BadInput} naming field, expected and
  // found for a broken file, Error{Unsupported} for an unknown version or tensor type.
  static File open(const std::filesystem::path& path);
  // The same over bytes in memory, which must outlive the File. `name` stands in messages.
  static File parse(std::span<const std::byte> bytes, std::string_view name);

  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  ~File();

  std::string_view name() const noexcept;  // the path it was opened with
  std::uint32_t version() const noexcept;
  std::uint64_t alignment() const noexcept;
  std::uint64_t size_bytes() const noexcept;
  // When the file was written last, in nanoseconds since 1970; 0: bytes in memory.
  std::int64_t modified_ns() const noexcept;
  const Metadata& metadata() const noexcept;
  // In file order.
  std::span<const TensorView> tensors() const noexcept;
  // nullptr: no such tensor.
  const TensorView* find(std::string_view tensor_name) const noexcept;
  // Throws Error{BadInput} if there is no such tensor.
  const TensorView& tensor(std::string_view tensor_name) const;
  // Copies bytes of one of its tensors, from `offset` in it on, without touching the mapping (so
  // that memory never holds them twice). Requires a range inside tensor.bytes. Throws Error{Io} if
  // the file has changed or cannot be read.
  void read(const TensorView& tensor, std::size_t offset, std::span<std::byte> out) const;

 private:
  struct Contents;
  explicit File(std::unique_ptr<const Contents> contents);
  std::unique_ptr<const Contents> contents_;
};

}  // namespace smol::gguf
