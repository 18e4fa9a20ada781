#include "text/pretokenizer.h"

#include <cstdint>

#include "text/unicode_classes.h"

namespace smol::text {
namespace {

using unicode::Character;
using unicode::kLetter;
using unicode::kNumber;
using unicode::kNumeric;
using unicode::kSpace;

constexpr char32_t kLongS = 0x17F;  // case folding pairs it with s

bool is_newline(char32_t c) noexcept {
  return c == U'\r' || c == U'\n';
}

// One match attempt at the start of a range. `kind` is a template argument so that each pattern
// compiles to its own loop.
template <PreTokenizer kKind>
class Matcher {
 public:
  Matcher(std::string_view text, std::size_t begin, std::size_t end) noexcept
      : text_(text.substr(0, end)), begin_(begin) {}

  Piece match() const noexcept;

 private:
  // The range ends here, as far as the pattern can see.
  bool stops(const Character& c) const noexcept {
    return kKind == PreTokenizer::DigitsGpt2 && (c.classes & kNumeric) != 0;
  }

  bool is_symbol(const Character& c) const noexcept {
    return (c.classes & (kSpace | kLetter | kNumber)) == 0 && !stops(c);
  }

  bool at_end(std::size_t at) const noexcept { return at == text_.size(); }

  Character character(std::size_t at) const noexcept { return unicode::character_at(text_, at); }

  template <typename Accept>
  std::size_t skip(std::size_t at, Accept accept) const noexcept;
  Piece run_of(std::size_t at, std::uint8_t classes) const noexcept;
  Piece symbols(std::size_t at) const noexcept;
  Piece digits(std::size_t at) const noexcept;
  Piece white_space() const noexcept;
  Piece contraction() const noexcept;
  bool same_letter(const Character& c, char32_t letter) const noexcept;
  Piece match_llama3(const Character& first) const noexcept;
  Piece match_gpt2(const Character& first) const noexcept;

  std::string_view text_;  // ends where the range ends
  std::size_t begin_;
};

template <PreTokenizer kKind>
template <typename Accept>
std::size_t Matcher<kKind>::skip(std::size_t at, Accept accept) const noexcept {
  while (!at_end(at)) {
    const Character c = character(at);
    if (!accept(c)) {
      break;
    }
    at += c.length;
  }
  return at;
}

template <PreTokenizer kKind>
Piece Matcher<kKind>::run_of(std::size_t at, std::uint8_t classes) const noexcept {
  const std::size_t end = skip(at, [&](const Character& c) { return (c.classes & classes) != 0; });
  return {end, at_end(end)};
}

template <PreTokenizer kKind>
Piece Matcher<kKind>::symbols(std::size_t at) const noexcept {
  std::size_t end = skip(at, [&](const Character& c) { return is_symbol(c); });
  if (kKind == PreTokenizer::Llama3) {
    end = skip(end, [](const Character& c) { return is_newline(c.code_point); });
  }
  return {end, at_end(end)};
}

// \p{N}{1,3}
template <PreTokenizer kKind>
Piece Matcher<kKind>::digits(std::size_t at) const noexcept {
  for (int count = 0; count < 3; ++count) {
    if (at_end(at)) {
      return {at, true};
    }
    const Character c = character(at);
    if ((c.classes & kNumber) == 0) {
      break;
    }
    at += c.length;
  }
  return {at, false};
}

// \s*[\r\n]+ (Llama 3 only), \s+(?!\S), \s+
template <PreTokenizer kKind>
Piece Matcher<kKind>::white_space() const noexcept {
  std::size_t at = begin_;
  std::size_t last = begin_;
  std::size_t after_newline = begin_;
  bool ends_range = true;
  while (!at_end(at)) {
    const Character c = character(at);
    if ((c.classes & kSpace) == 0) {
      ends_range = stops(c);
      break;
    }
    last = at;
    at += c.length;
    if (is_newline(c.code_point)) {
      after_newline = at;
    }
  }
  const bool saw_end = at_end(at);
  if (kKind == PreTokenizer::Llama3 && after_newline != begin_) {
    return {after_newline, saw_end};
  }
  return {ends_range || last == begin_ ? at : last, saw_end};
}

template <PreTokenizer kKind>
bool Matcher<kKind>::same_letter(const Character& c, char32_t letter) const noexcept {
  if (c.code_point == letter) {
    return true;
  }
  return kKind == PreTokenizer::Llama3 &&
         (c.code_point == letter - U'a' + U'A' || (letter == U's' && c.code_point == kLongS));
}

// An apostrophe at begin_ with s, t, m, d, re, ve or ll behind it. Otherwise the piece is empty.
template <PreTokenizer kKind>
Piece Matcher<kKind>::contraction() const noexcept {
  const std::size_t at = begin_ + 1;
  if (at_end(at)) {
    return {begin_, true};
  }
  const Character c = character(at);
  const std::size_t next = at + c.length;
  for (const char32_t letter : {U's', U't', U'm', U'd'}) {
    if (same_letter(c, letter)) {
      return {next, false};
    }
  }
  const char32_t second = same_letter(c, U'l') ? U'l' : U'e';
  if (second == U'e' && !same_letter(c, U'r') && !same_letter(c, U'v')) {
    return {begin_, false};
  }
  if (at_end(next)) {
    return {begin_, true};
  }
  const Character d = character(next);
  return {same_letter(d, second) ? next + d.length : begin_, false};
}

template <PreTokenizer kKind>
Piece Matcher<kKind>::match_llama3(const Character& first) const noexcept {
  const std::size_t next = begin_ + first.length;
  if ((first.classes & kLetter) != 0) {
    return run_of(next, kLetter);
  }
  if ((first.classes & kNumber) != 0) {
    return digits(begin_);
  }
  if (!at_end(next) && !is_newline(first.code_point)) {
    const Character second = character(next);
    if ((second.classes & kLetter) != 0) {
      return run_of(next + second.length, kLetter);
    }
    if (first.code_point == U' ' && is_symbol(second)) {
      return symbols(next + second.length);
    }
  }
  return (first.classes & kSpace) != 0 ? white_space() : symbols(next);
}

template <PreTokenizer kKind>
Piece Matcher<kKind>::match_gpt2(const Character& first) const noexcept {
  const std::size_t next = begin_ + first.length;
  if (stops(first)) {
    return {next, false};
  }
  // " ?" belongs to the run behind it.
  const bool takes_next = first.code_point == U' ' && !at_end(next);
  const Character lead = takes_next ? character(next) : first;
  const std::size_t rest = takes_next ? next + lead.length : next;
  if ((lead.classes & kSpace) != 0 || stops(lead)) {
    return white_space();
  }
  const std::uint8_t run = lead.classes & (kLetter | kNumber);
  return run != 0 ? run_of(rest, run) : symbols(rest);
}

template <PreTokenizer kKind>
Piece Matcher<kKind>::match() const noexcept {
  const Character first = character(begin_);
  bool saw_end = false;
  if (first.code_point == U'\'') {
    const Piece piece = contraction();
    if (piece.end != begin_) {
      return piece;
    }
    saw_end = piece.saw_end;
  }
  Piece piece = kKind == PreTokenizer::Llama3 ? match_llama3(first) : match_gpt2(first);
  piece.saw_end = piece.saw_end || saw_end;
  return piece;
}

}  // namespace

Piece next_piece(PreTokenizer kind, std::string_view text, std::size_t begin,
                 std::size_t end) noexcept {
  switch (kind) {
    case PreTokenizer::Llama3:
      return Matcher<PreTokenizer::Llama3>(text, begin, end).match();
    case PreTokenizer::Gpt2:
      return Matcher<PreTokenizer::Gpt2>(text, begin, end).match();
    case PreTokenizer::DigitsGpt2:
      break;
  }
  return Matcher<PreTokenizer::DigitsGpt2>(text, begin, end).match();
}

}  // namespace smol::text
