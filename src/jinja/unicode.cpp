#include "jinja/unicode.h"

#include <algorithm>
#include <span>

#include "jinja/unicode_tables.h"

namespace smol::jinja::unicode {
namespace {

std::uint16_t flags_of(char32_t c) noexcept {
  const auto table = properties();
  const auto after = std::upper_bound(
      table.begin(), table.end(), c,
      [](char32_t value, const PropertyRange& range) { return value < range.first; });
  return after == table.begin() ? std::uint16_t{0} : std::prev(after)->flags;
}

bool covers(const CaseRun& run, char32_t c) noexcept {
  return c >= run.first && c <= run.last && (c - run.first) % run.step == 0;
}

// Runs of step 2 interleave, so a few runs before the found one may hold the character, too.
char32_t map_simple(std::span<const CaseRun> runs, char32_t c) noexcept {
  constexpr int kInterleaved = 4;
  auto it = std::upper_bound(runs.begin(), runs.end(), c,
                             [](char32_t value, const CaseRun& run) { return value < run.first; });
  for (int i = 0; i < kInterleaved && it != runs.begin(); ++i) {
    --it;
    if (covers(*it, c)) {
      return static_cast<char32_t>(static_cast<std::int64_t>(c) + it->delta);
    }
  }
  return c;
}

std::u32string map_case(const CaseTable& table, char32_t c) {
  const auto it = std::lower_bound(
      table.special.begin(), table.special.end(), c,
      [](const CaseSpecial& special, char32_t value) { return special.code_point < value; });
  if (it != table.special.end() && it->code_point == c) {
    return it->to;
  }
  return std::u32string(1, map_simple(table.runs, c));
}

}  // namespace

bool has(char32_t c, Property property) noexcept {
  return (flags_of(c) & static_cast<std::uint16_t>(property)) != 0;
}

bool is_space(char32_t c) noexcept {
  return has(c, Property::Space);
}

bool is_alnum(char32_t c) noexcept {
  constexpr auto kAlnum =
      static_cast<std::uint16_t>(Property::Alpha) | static_cast<std::uint16_t>(Property::Decimal) |
      static_cast<std::uint16_t>(Property::Digit) | static_cast<std::uint16_t>(Property::Numeric);
  return (flags_of(c) & kAlnum) != 0;
}

bool is_word(char32_t c) noexcept {
  return c == U'_' || is_alnum(c);
}

int decimal_value(char32_t c) noexcept {
  // Decimal digits stand in blocks of ten; the mathematical ones are five blocks in a row.
  const auto table = properties();
  const auto after = std::upper_bound(
      table.begin(), table.end(), c,
      [](char32_t value, const PropertyRange& range) { return value < range.first; });
  return static_cast<int>((c - std::prev(after)->first) % 10);
}

std::u32string to_upper(char32_t c) {
  return map_case(upper_table(), c);
}

std::u32string to_lower(char32_t c) {
  return map_case(lower_table(), c);
}

std::u32string to_title(char32_t c) {
  return map_case(title_table(), c);
}

std::u32string to_fold(char32_t c) {
  return map_case(fold_table(), c);
}

char32_t by_name(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  const auto table = names();
  const auto it = std::lower_bound(
      table.begin(), table.end(), upper,
      [](const NamedCharacter& named, const std::string& wanted) { return named.name < wanted; });
  return it != table.end() && it->name == upper ? it->code_point : U'\0';
}

}  // namespace smol::jinja::unicode
