// Cuts text into the pieces inside which BPE merges: hand-written matchers of three known patterns.
#pragma once

#include <cstddef>
#include <string_view>

namespace smol::text {

enum class PreTokenizer {
  // (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|
  // \s*[\r\n]+|\s+(?!\S)|\s+
  Llama3,
  // 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
  Gpt2,
  // Every numeric character is a piece of its own; Gpt2 on each stretch between them.
  DigitsGpt2,
};

struct Piece {
  std::size_t end;
  // The text's end was looked at: more text behind it could make this another piece.
  bool saw_end;
};

// The piece of text[begin, end) that starts at `begin`; what lies outside of the range is not
// looked at. Pieces follow each other without gaps. Requires: valid UTF-8, begin < end. Linear in
// the piece's length.
Piece next_piece(PreTokenizer kind, std::string_view text, std::size_t begin,
                 std::size_t end) noexcept;

}  // namespace smol::text
