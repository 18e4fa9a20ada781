#include "jinja/string_case.h"

#include <algorithm>
#include <string>

#include "jinja/arguments.h"
#include "jinja/strings.h"
#include "jinja/unicode.h"

namespace smol::jinja {
namespace {

using unicode::Property;

bool is_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_cased(char32_t c) noexcept {
  return unicode::has(c, Property::Cased);
}

// Sigma at the end of a word becomes its final form (Unicode, Final_Sigma).
char32_t lower_sigma(const std::vector<Character>& all, std::size_t index) {
  const auto ignorable = [&all](std::size_t i) {
    return unicode::has(all[i].code_point, Property::CaseIgnorable);
  };
  std::size_t before = index;
  while (before > 0 && ignorable(before - 1)) {
    --before;
  }
  std::size_t after = index + 1;
  while (after < all.size() && ignorable(after)) {
    ++after;
  }
  const bool follows = before > 0 && is_cased(all[before - 1].code_point);
  const bool last = after == all.size() || !is_cased(all[after].code_point);
  return follows && last ? U'\u03C2' : U'\u03C3';
}

std::u32string lower_at(const std::vector<Character>& all, std::size_t index) {
  const char32_t c = all[index].code_point;
  return c == U'\u03A3' ? std::u32string(1, lower_sigma(all, index)) : unicode::to_lower(c);
}

template <class Map>
MarkedString map_text(Runtime& runtime, const MarkedString& text, const Map& map) {
  runtime.budget().charge(text.size(), sizeof(Character) + 1);
  return map_characters(text, map);
}

template <class Predicate>
Value all_characters(const Value& self, const Predicate& predicate, bool when_empty = false) {
  const std::u32string text = decode(self.bytes());
  return Value::boolean(text.empty() ? when_empty
                                     : std::all_of(text.begin(), text.end(), predicate));
}

Value has_property(const Value& self, Property property, bool when_empty = false) {
  return all_characters(
      self, [property](char32_t c) { return unicode::has(c, property); }, when_empty);
}

}  // namespace

MarkedString upper_text(Runtime& runtime, const MarkedString& text) {
  if (is_ascii(text.bytes())) {
    std::string bytes = text.bytes();
    for (char& c : bytes) {
      c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    return text.with_bytes(std::move(bytes));
  }
  return map_text(runtime, text, [](const std::vector<Character>& all, std::size_t i) {
    return unicode::to_upper(all[i].code_point);
  });
}

MarkedString lower_text(Runtime& runtime, const MarkedString& text) {
  if (is_ascii(text.bytes())) {
    std::string bytes = text.bytes();
    for (char& c : bytes) {
      c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return text.with_bytes(std::move(bytes));
  }
  return map_text(runtime, text, lower_at);
}

MarkedString capitalize_text(Runtime& runtime, const MarkedString& text) {
  return map_text(runtime, text, [](const std::vector<Character>& all, std::size_t i) {
    return i == 0 ? unicode::to_title(all[i].code_point) : lower_at(all, i);
  });
}

bool is_lower_text(std::string_view text) {
  bool cased = false;
  for (const char32_t c : decode(text)) {
    if (unicode::has(c, Property::Upper) || unicode::has(c, Property::Title)) {
      return false;
    }
    cased = cased || unicode::has(c, Property::Lower);
  }
  return cased;
}

bool is_upper_text(std::string_view text) {
  bool cased = false;
  for (const char32_t c : decode(text)) {
    if (unicode::has(c, Property::Lower) || unicode::has(c, Property::Title)) {
      return false;
    }
    cased = cased || unicode::has(c, Property::Upper);
  }
  return cased;
}

Value str_upper(Runtime& runtime, const Value& self, const CallArgs& args) {
  bind_nothing(args, "upper");
  return runtime.text(upper_text(runtime, self.text()));
}

Value str_lower(Runtime& runtime, const Value& self, const CallArgs& args) {
  bind_nothing(args, "lower");
  return runtime.text(lower_text(runtime, self.text()));
}

Value str_capitalize(Runtime& runtime, const Value& self, const CallArgs& args) {
  bind_nothing(args, "capitalize");
  return runtime.text(capitalize_text(runtime, self.text()));
}

Value str_title(Runtime& runtime, const Value& self, const CallArgs& args) {
  bind_nothing(args, "title");
  return runtime.text(
      map_text(runtime, self.text(), [](const std::vector<Character>& all, std::size_t i) {
        const bool inside = i > 0 && is_cased(all[i - 1].code_point);
        return inside ? lower_at(all, i) : unicode::to_title(all[i].code_point);
      }));
}

Value str_swapcase(Runtime& runtime, const Value& self, const CallArgs& args) {
  bind_nothing(args, "swapcase");
  return runtime.text(
      map_text(runtime, self.text(), [](const std::vector<Character>& all, std::size_t i) {
        const char32_t c = all[i].code_point;
        if (unicode::has(c, Property::Upper)) {
          return lower_at(all, i);
        }
        return unicode::has(c, Property::Lower) ? unicode::to_upper(c) : std::u32string(1, c);
      }));
}

Value str_casefold(Runtime& runtime, const Value& self, const CallArgs& args) {
  bind_nothing(args, "casefold");
  return runtime.text(
      map_text(runtime, self.text(), [](const std::vector<Character>& all, std::size_t i) {
        return unicode::to_fold(all[i].code_point);
      }));
}

Value str_isalnum(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "isalnum");
  return all_characters(self, unicode::is_alnum);
}

Value str_isalpha(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "isalpha");
  return has_property(self, Property::Alpha);
}

Value str_isascii(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "isascii");
  return Value::boolean(is_ascii(self.bytes()));
}

Value str_isdecimal(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "isdecimal");
  return has_property(self, Property::Decimal);
}

Value str_isdigit(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "isdigit");
  return has_property(self, Property::Digit);
}

Value str_isidentifier(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "isidentifier");
  const std::u32string text = decode(self.bytes());
  return Value::boolean(!text.empty() && unicode::has(text[0], Property::IdStart) &&
                        std::all_of(text.begin() + 1, text.end(), [](char32_t c) {
                          return unicode::has(c, Property::IdContinue);
                        }));
}

Value str_islower(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "islower");
  return Value::boolean(is_lower_text(self.bytes()));
}

Value str_isnumeric(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "isnumeric");
  return has_property(self, Property::Numeric);
}

Value str_isprintable(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "isprintable");
  return has_property(self, Property::Printable, true);
}

Value str_isspace(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "isspace");
  return has_property(self, Property::Space);
}

Value str_istitle(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "istitle");
  bool cased = false;
  bool inside = false;
  for (const char32_t c : decode(self.bytes())) {
    const bool upper = unicode::has(c, Property::Upper) || unicode::has(c, Property::Title);
    const bool lower = unicode::has(c, Property::Lower);
    if ((upper && inside) || (lower && !inside)) {
      return Value::boolean(false);
    }
    inside = upper || lower;
    cased = cased || inside;
  }
  return Value::boolean(cased);
}

Value str_isupper(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "isupper");
  return Value::boolean(is_upper_text(self.bytes()));
}

}  // namespace smol::jinja
