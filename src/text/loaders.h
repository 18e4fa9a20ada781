// Readers of the two tokenizer files. Both prove everything once, at the door.
#pragma once

#include <filesystem>
#include <string_view>

#include "gguf/file.h"
#include "text/tokenizer_parts.h"

namespace smol::text {

// All throw Error{BadInput, Unsupported} with a message that begins with the file's name.
TokenizerParts load_gguf(const gguf::File& file);
TokenizerParts load_json(std::string_view tokenizer_json, std::string_view name);
// With tokenizer_config.json and special_tokens_map.json beside the file: X_tokenizer.json is
// accompanied by X_tokenizer_config.json.
TokenizerParts load_json_with_companions(const std::filesystem::path& tokenizer_json);

// By the magic number. Throws Error{NotFound, Io} when the file cannot be read.
bool is_gguf(const std::filesystem::path& path);

}  // namespace smol::text
