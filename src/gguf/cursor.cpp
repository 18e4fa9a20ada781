#include "gguf/cursor.h"

#include "base/error.h"

namespace smol::gguf {

bool Cursor::read_bool(std::string_view what) {
  const auto value = read<std::uint8_t>(what);
  if (value > 1) {
    fail(what, "a bool of 0 or 1", std::to_string(value));
  }
  return value == 1;
}

std::string_view Cursor::read_string(std::string_view what) {
  const auto length = read<std::uint64_t>(what);
  if (length > left()) {
    fail(what, "a string of at most " + std::to_string(left()) + " bytes (the file's rest)",
         "length " + std::to_string(length));
  }
  const std::span<const std::byte> taken = take(length, what);
  return {reinterpret_cast<const char*>(taken.data()), taken.size()};
}

std::size_t Cursor::read_count(std::size_t min_bytes_each, std::string_view what) {
  const auto count = read<std::uint64_t>(what);
  const std::size_t limit = left() / min_bytes_each;
  if (count > limit) {
    fail(what,
         "a count of at most " + std::to_string(limit) + " (the file has " +
             std::to_string(left()) + " bytes left)",
         std::to_string(count));
  }
  return count;
}

void Cursor::fail(std::string_view what, std::string_view expected, std::string_view found) const {
  throw Error(ErrorCode::BadInput, file_name_ + ": " + std::string(what) + ": expected " +
                                       std::string(expected) + ", found " + std::string(found));
}

void Cursor::fail_truncated(std::size_t n_bytes, std::string_view what) const {
  fail(what, std::to_string(n_bytes) + " bytes at offset " + std::to_string(position_),
       "the end of the file after " + std::to_string(left()));
}

}  // namespace smol::gguf
