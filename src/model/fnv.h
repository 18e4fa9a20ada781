// FNV-1a (Fowler, Noll, Vo 1991), 64 bits. Finds accidents, not malice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace smol::model {

class Fnv {
 public:
  void add(std::span<const std::byte> bytes) noexcept {
    for (const std::byte byte : bytes) {
      value_ = (value_ ^ std::to_integer<std::uint64_t>(byte)) * 1099511628211U;
    }
  }

  void add(std::string_view text) noexcept { add(std::as_bytes(std::span(text))); }

  template <class Number>
  void add_number(Number number) noexcept {
    add(std::as_bytes(std::span(&number, 1)));
  }

  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037U;
};

}  // namespace smol::model
