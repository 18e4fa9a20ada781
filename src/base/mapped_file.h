// A read-only file, mapped into memory. Owns the mapping; immutable, any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace smol {

class MappedFile {
 public:
  // Throws Error{NotFound} if there is no such file, Error{Io} if it cannot be read,
  // Error{BadInput} if it is no regular file.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace smol
