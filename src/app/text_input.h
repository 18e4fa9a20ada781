// Texts from outside, read whole: never more of them than their kind may have, and no model file in
// place of a text.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace smol::app {

inline constexpr std::size_t kMiB = std::size_t{1} << 20U;
inline constexpr std::size_t kMostPromptBytes = 16 * kMiB;  // and messages
inline constexpr std::size_t kMostEvalBytes = 64 * kMiB;
inline constexpr std::size_t kMostToolsBytes = 16 * kMiB;
inline constexpr std::size_t kMostTemplateBytes = kMiB;

// All of standard input. Throws Error{Io}; Error{BadInput} for more than `most_bytes` or a GGUF
// file.
std::string read_standard_input(std::size_t most_bytes);

// A regular file or a pipe, in the same way; `what` is its role in messages: "--tools".
std::string read_text_file(const std::filesystem::path& path, std::string_view what,
                           std::size_t most_bytes);

// Throws Error{NotFound}, as existing_file() does, for what is neither a regular file nor a pipe.
std::filesystem::path existing_text(std::string_view what, const std::string& text);

}  // namespace smol::app
