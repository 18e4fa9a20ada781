// A zeroed array whose pages cost nothing until they are written (anonymous mmap). Page-aligned.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace smol::model {

// Owns the pages. Throws Error{Exhausted} naming the bytes if the address space cannot be had.
class ReservedBytes {
 public:
  ReservedBytes() = default;
  explicit ReservedBytes(std::size_t size_bytes);
  ~ReservedBytes();

  ReservedBytes(ReservedBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

  ReservedBytes& operator=(ReservedBytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  ReservedBytes(const ReservedBytes&) = delete;
  ReservedBytes& operator=(const ReservedBytes&) = delete;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class T>
class ReservedArray {
  static_assert(std::is_trivial_v<T>);

 public:
  ReservedArray() = default;

  explicit ReservedArray(std::size_t count) : bytes_(count * sizeof(T)), count_(count) {}

  [[nodiscard]] T* data() const noexcept {
    return static_cast<T*>(static_cast<void*>(bytes_.data()));
  }

  [[nodiscard]] std::size_t size() const noexcept { return count_; }

  T& operator[](std::size_t i) const noexcept { return data()[i]; }

  // Row `index` of a matrix with rows of `length`.
  [[nodiscard]] std::span<T> row(std::size_t index, std::size_t length) const noexcept {
    return {data() + index * length, length};
  }

 private:
  ReservedBytes bytes_;
  std::size_t count_ = 0;
};

}  // namespace smol::model
