// White space round blocks and tags: ASCII's.
#pragma once

#include <cstddef>
#include <string_view>

namespace smol::chat {

constexpr bool is_space(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

constexpr std::string_view strip(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace smol::chat
