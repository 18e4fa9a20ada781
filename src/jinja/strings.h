// Code points, searching and per-character mapping of marked strings.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/marked_string.h"

namespace smol::jinja {

// Linear in both lengths. nullopt: not found at or after byte `from`.
std::optional<std::size_t> find_bytes(std::string_view text, std::string_view part,
                                      std::size_t from = 0);
// The last occurrence that ends at or before byte `end`.
std::optional<std::size_t> rfind_bytes(std::string_view text, std::string_view part,
                                       std::size_t end);

std::size_t count_characters(std::string_view text) noexcept;
// The byte at which character `index` starts; text.size() if there are fewer characters.
std::size_t byte_of_character(std::string_view text, std::size_t index) noexcept;

struct Character {
  std::size_t begin, end;  // bytes
  char32_t code_point;
};

std::vector<Character> characters(std::string_view text);

std::u32string decode(std::string_view text);
std::string encode(std::u32string_view text);

// Bytes [begin, end) that remain after stripping characters that satisfy `stripped`.
enum class Side { Left, Right, Both };
Range strip_range(std::string_view text, Side side, const std::function<bool(char32_t)>& stripped);

// Each character replaced by what `map` makes of it; results keep the character's origin.
MarkedString map_characters(
    const MarkedString& text,
    const std::function<std::u32string(const std::vector<Character>& all, std::size_t index)>& map);

}  // namespace smol::jinja
