// Text of an untrusted file made fit for one line of a terminal or a log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace smol::gguf {

// `text` with control characters, line separators, marks that turn the writing direction and
// invalid UTF-8 written as \n, \t, \xNN or \u{N}, and a backslash doubled. Cut with "..." after
// `max_bytes` bytes of `text`.
std::string printable(std::string_view text, std::size_t max_bytes = 80);

}  // namespace smol::gguf
