#include "store/fold.h"

#include <clocale>
#include <cwctype>

#include "base/utf8.h"

namespace smol::store {
namespace {

char32_t lower(char32_t character) noexcept {
  if (character < 0x80) {
    const bool upper = character >= U'A' && character <= U'Z';
    return upper ? character + (U'a' - U'A') : character;
  }
  // Never freed: as long as the program.
  static const ::locale_t kUnicode = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (kUnicode == nullptr) {
    return character;
  }
  return static_cast<char32_t>(::towlower_l(static_cast<wint_t>(character), kUnicode));
}

// The bytes of `text` that fold to `word`, 0 if it does not begin so.
std::size_t match_length(std::string_view text, std::string_view word) noexcept {
  std::size_t at = 0;
  while (!word.empty()) {
    if (at == text.size()) {
      return 0;
    }
    const auto wanted = utf8::next(word);
    const auto found = utf8::next(text.substr(at));
    if (lower(found.code_point) != wanted.code_point) {
      return 0;
    }
    at += found.length;
    word.remove_prefix(wanted.length);
  }
  return at;
}

}  // namespace

std::string folded(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto step = utf8::next(text);
    utf8::append(out, lower(step.code_point));
    text.remove_prefix(step.length);
  }
  return out;
}

std::optional<Span> find_folded(std::string_view text, std::string_view word) noexcept {
  const char32_t first = utf8::next(word).code_point;
  for (std::size_t at = 0; at < text.size();) {
    const auto step = utf8::next(text.substr(at));
    const bool may_begin = lower(step.code_point) == first;
    const std::size_t length = may_begin ? match_length(text.substr(at), word) : 0;
    if (length > 0) {
      return Span{at, at + length};
    }
    at += step.length;
  }
  return std::nullopt;
}

}  // namespace smol::store
