// Letters without their case, for finding words in any script.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace smol::store {

// Each character in lower case (one character for one, as glibc's C.UTF-8 has it); what is no UTF-8
// becomes U+FFFD.
std::string folded(std::string_view text);

struct Span {
  std::size_t begin = 0;  // in bytes
  std::size_t end = 0;
};

// The first place in `text` that, folded, is `word`. Requires: `word` is folded and not empty.
std::optional<Span> find_folded(std::string_view text, std::string_view word) noexcept;

}  // namespace smol::store
