// One large piece of zeroed memory for data that is read over and over: on huge pages where the
// system gives them, since with small ones the walk through the page tables costs up to half of the
// memory's bandwidth.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace smol {

// Owns the memory. Where transparent huge pages are switched off it lies on small ones.
class HugePageArena {
 public:
  static constexpr std::size_t kAlignment = std::size_t{2} << 20U;

  HugePageArena() = default;
  // Begins at a multiple of kAlignment. Throws Error{Exhausted} naming the bytes if the address
  // space cannot be had; pages are taken when they are first written.
  explicit HugePageArena(std::size_t size_bytes);
  ~HugePageArena();

  HugePageArena(HugePageArena&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

  HugePageArena& operator=(HugePageArena&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  HugePageArena(const HugePageArena&) = delete;
  HugePageArena& operator=(const HugePageArena&) = delete;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

  // Once written: moves what still lies on small pages to huge ones where the system can.
  void collapse() noexcept;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Bytes of any memory, also of a mapped file, that lie on huge pages now; 0 where the system does
// not tell.
std::size_t huge_page_bytes(std::span<const std::byte> memory);

}  // namespace smol
