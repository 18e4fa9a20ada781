#include "grammar/char_set.h"

#include <algorithm>

namespace smol::grammar {

CharSet make_set(std::vector<CharRange> ranges) {
  std::sort(ranges.begin(), ranges.end());
  CharSet set;
  for (const CharRange& range : ranges) {
    if (!set.empty() && range.first <= set.back().last + 1) {
      set.back().last = std::max(set.back().last, range.last);
    } else {
      set.push_back(range);
    }
  }
  return set;
}

CharSet complement(const CharSet& set) {
  CharSet others;
  char32_t next = 0;
  for (const CharRange& range : set) {
    if (range.first > next) {
      others.push_back({next, range.first - 1});
    }
    next = range.last + 1;
  }
  if (next <= kMaxCodePoint) {
    others.push_back({next, kMaxCodePoint});
  }
  return others;
}

bool contains(const CharSet& set, char32_t code_point) noexcept {
  const auto after =
      std::upper_bound(set.begin(), set.end(), code_point,
                       [](char32_t value, const CharRange& range) { return value < range.first; });
  return after != set.begin() && std::prev(after)->last >= code_point;
}

CharSet digits() {
  return {{'0', '9'}};
}

CharSet word_characters() {
  return {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
}

CharSet white_space() {
  return {{'\t', '\r'},     {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
          {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
}

CharSet not_line_ends() {
  return complement({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}});
}

CharSet any_character() {
  return {{0, kMaxCodePoint}};
}

}  // namespace smol::grammar
