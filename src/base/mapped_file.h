// A read-only file, mapped into memory. Owns mapping and descriptor; immutable, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

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

  // When it was written last, as it was opened: nanoseconds since 1970.
  std::int64_t modified_ns() const noexcept { return modified_ns_; }

  // Brings a mapping in before it is used, from the disk what is not in memory, as huge pages where
  // the system's page cache holds such.
  void take_pages() const noexcept;
  // The mapping no longer counts as this process's memory, until it is used again.
  void give_back_pages() const noexcept;

  // Copies the bytes from `offset` on without touching the mapping, whose pages would then count as
  // this process's memory. Requires a range inside bytes(). Throws Error{Io} if the file has become
  // shorter or cannot be read.
  void read(std::size_t offset, std::span<std::byte> out) const;

 private:
  // Closes what it holds.
  class Descriptor {
   public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}

    ~Descriptor();

    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

    Descriptor& operator=(Descriptor&& other) noexcept {
      std::swap(fd_, other.fd_);
      return *this;
    }

    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int get() const noexcept { return fd_; }

   private:
    int fd_;
  };

  std::string name_;
  Descriptor descriptor_;
  std::int64_t modified_ns_ = 0;
  std::span<const std::byte> bytes_;
};

}  // namespace smol
