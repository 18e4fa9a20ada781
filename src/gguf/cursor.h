// Bounds-checked reading of little-endian values from the bytes of a GGUF file.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace smol::gguf {

static_assert(std::endian::native == std::endian::little, "GGUF files are read as they lie");

// The bytes must outlive the cursor and every string it gave. Every error is an Error{BadInput}
// that begins with the file's name and names `what` could not be read.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, std::string_view file_name)
      : bytes_(bytes), file_name_(file_name) {}

  const std::string& file_name() const noexcept { return file_name_; }

  std::size_t position() const noexcept { return position_; }

  std::size_t left() const noexcept { return bytes_.size() - position_; }

  template <typename T>
  T read(std::string_view what) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    T value;
    std::memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
    return value;
  }

  bool read_bool(std::string_view what);
  // u64 length, then the bytes.
  std::string_view read_string(std::string_view what);
  // u64, refused when more than `left() / min_bytes_each`: no count can then ask for memory that
  // the file does not justify.
  std::size_t read_count(std::size_t min_bytes_each, std::string_view what);

  template <typename T>
  std::vector<T> read_values(std::size_t count, std::string_view what) {
    const std::span<const std::byte> from = take(count * sizeof(T), what);
    std::vector<T> values(count);
    if (count > 0) {
      std::memcpy(values.data(), from.data(), from.size());
    }
    return values;
  }

  // "FILE: WHAT: expected EXPECTED, found FOUND"
  [[noreturn]] void fail(std::string_view what, std::string_view expected,
                         std::string_view found) const;

 private:
  std::span<const std::byte> take(std::size_t n_bytes, std::string_view what) {
    if (n_bytes > left()) {
      fail_truncated(n_bytes, what);
    }
    const std::span<const std::byte> taken = bytes_.subspan(position_, n_bytes);
    position_ += n_bytes;
    return taken;
  }

  [[noreturn]] void fail_truncated(std::size_t n_bytes, std::string_view what) const;

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  std::string file_name_;
};

}  // namespace smol::gguf
