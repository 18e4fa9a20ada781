#include "text/byte_chars.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/utf8.h"

namespace smol::text {
namespace {

constexpr std::size_t kCharacters =
    256 + 68;  // the last byte without a printable character is U+0143
constexpr std::int16_t kNoByte = -1;

constexpr bool is_printable(std::size_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

// Printable Latin-1 stands for itself; the other bytes follow from U+0100 on, in order.
constexpr std::array<std::int16_t, kCharacters> byte_of_character() {
  std::array<std::int16_t, kCharacters> table{};
  for (auto& entry : table) {
    entry = kNoByte;
  }
  std::size_t next = 256;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    table[is_printable(byte) ? byte : next++] = static_cast<std::int16_t>(byte);
  }
  return table;
}

constexpr auto kByteOf = byte_of_character();

}  // namespace

bool append_spelled_bytes(std::string_view spelled, std::string& out) {
  const std::size_t before = out.size();
  while (!spelled.empty()) {
    const utf8::Step step = utf8::next(spelled);
    const std::int16_t byte = step.code_point < kCharacters ? kByteOf[step.code_point] : kNoByte;
    if (byte == kNoByte) {
      out.resize(before);
      return false;
    }
    out.push_back(static_cast<char>(byte));
    spelled.remove_prefix(step.length);
  }
  return true;
}

}  // namespace smol::text
