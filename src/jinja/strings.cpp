#include "jinja/strings.h"

#include <algorithm>
#include <cstring>

#include "base/utf8.h"

namespace smol::jinja {

std::optional<std::size_t> find_bytes(std::string_view text, std::string_view part,
                                      std::size_t from) {
  if (from > text.size()) {
    return std::nullopt;
  }
  if (part.empty()) {
    return from;
  }
  // glibc's memmem never takes quadratic time, std::string::find may.
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  if (found == nullptr) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

std::optional<std::size_t> rfind_bytes(std::string_view text, std::string_view part,
                                       std::size_t end) {
  const std::string reversed_text(text.rend() - static_cast<std::ptrdiff_t>(end), text.rend());
  const std::string reversed_part(part.rbegin(), part.rend());
  const auto found = find_bytes(reversed_text, reversed_part);
  if (!found) {
    return std::nullopt;
  }
  return end - *found - part.size();
}

std::size_t count_characters(std::string_view text) noexcept {
  return utf8::length(text);
}

std::size_t byte_of_character(std::string_view text, std::size_t index) noexcept {
  std::size_t at = 0;
  while (index > 0 && at < text.size()) {
    const bool ascii = static_cast<unsigned char>(text[at]) < 0x80;
    at += ascii ? 1 : utf8::next(text.substr(at)).length;
    --index;
  }
  return at;
}

std::vector<Character> characters(std::string_view text) {
  std::vector<Character> result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto step = utf8::next(text.substr(at));
    result.push_back({at, at + step.length, step.code_point});
    at += step.length;
  }
  return result;
}

std::u32string decode(std::string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto step = utf8::next(text.substr(at));
    result.push_back(step.code_point);
    at += step.length;
  }
  return result;
}

std::string encode(std::u32string_view text) {
  std::string result;
  for (const char32_t c : text) {
    utf8::append(result, c);
  }
  return result;
}

Range strip_range(std::string_view text, Side side, const std::function<bool(char32_t)>& stripped) {
  std::size_t begin = 0;
  std::size_t end = text.size();
  while (side != Side::Right && begin < end) {
    const auto step = utf8::next(text.substr(begin));
    if (!stripped(step.code_point)) {
      break;
    }
    begin += step.length;
  }
  while (side != Side::Left && begin < end) {
    // Back to the start of the last character: at most three continuation bytes before it.
    std::size_t start = end - 1;
    while (start > begin && end - start < 4 &&
           (static_cast<unsigned char>(text[start]) & 0xC0U) == 0x80U) {
      --start;
    }
    auto step = utf8::next(text.substr(start, end - start));
    if (step.length != end - start) {
      start = end - 1;  // not one well-formed character
      step = utf8::next(text.substr(start, 1));
    }
    if (!stripped(step.code_point)) {
      break;
    }
    end = start;
  }
  return {begin, end};
}

MarkedString map_characters(
    const MarkedString& text,
    const std::function<std::u32string(const std::vector<Character>&, std::size_t)>& map) {
  const std::vector<Character> all = characters(text.bytes());
  MarkedString result;
  result.reserve(text.size());
  std::string mapped;
  for (std::size_t i = 0; i < all.size(); ++i) {
    mapped.clear();
    for (const char32_t c : map(all, i)) {
      utf8::append(mapped, c);
    }
    result.append(mapped, text.origin_at(all[i].begin));
  }
  return result;
}

}  // namespace smol::jinja
