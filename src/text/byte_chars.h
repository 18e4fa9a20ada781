// GPT-2's spelling of bytes as printable characters: how byte-level vocabularies and merges are
// written.
#pragma once

#include <string>
#include <string_view>

namespace smol::text {

// Appends the bytes that `spelled` stands for and returns true; returns false and appends nothing
// when it holds a character that stands for no byte (or invalid UTF-8).
bool append_spelled_bytes(std::string_view spelled, std::string& out);

}  // namespace smol::text
