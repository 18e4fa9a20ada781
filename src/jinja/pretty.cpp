#include "jinja/pretty.h"

#include <algorithm>
#include <string>
#include <vector>

#include "jinja/compare.h"
#include "jinja/names.h"
#include "jinja/string_methods.h"
#include "jinja/strings.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

namespace smol::jinja {
namespace {

using Kind = Value::Kind;

constexpr std::size_t kWidth = 80;

// pprint's order of keys: what cannot be compared is ordered by type.
bool safe_less(Runtime& runtime, const Value& a, const Value& b) {
  try {
    return ordered(runtime.budget(), Ordering::Less, a, b);
  } catch (const Fault& fault) {
    if (fault.kind() == FaultKind::Limit) {
      throw;
    }
    return type_name(a) < type_name(b);
  }
}

std::vector<const Dict::Entry*> sorted_entries(Runtime& runtime, const Dict& dict) {
  std::vector<const Dict::Entry*> entries;
  for (const Dict::Entry& entry : dict) {
    entries.push_back(&entry);
  }
  std::stable_sort(entries.begin(), entries.end(), [&](const auto* a, const auto* b) {
    return safe_less(runtime, a->first, b->first);
  });
  return entries;
}

// The value with the keys of all its dicts sorted, so that repr() shows them in that order.
Value with_sorted_keys(Runtime& runtime, const Value& value) {
  runtime.budget().step();
  if (value.is_sequence()) {
    List items;
    for (const Value& item : value.items()) {
      items.push_back(with_sorted_keys(runtime, item));
    }
    return value.is(Kind::Array) ? runtime.list(std::move(items)) : runtime.tuple(std::move(items));
  }
  if (!value.is(Kind::Dict)) {
    return value;
  }
  Dict sorted;
  for (const Dict::Entry* entry : sorted_entries(runtime, value.dict())) {
    sorted.set(entry->first, with_sorted_keys(runtime, entry->second), runtime.budget());
  }
  return runtime.dict(std::move(sorted));
}

class PrettyPrinter {
 public:
  explicit PrettyPrinter(Runtime& runtime) : runtime_(runtime) {}

  MarkedString print(const Value& value) {
    write(value, {0, 0, 0});
    return std::move(out_);
  }

 private:
  // Columns taken before and after, and the nesting.
  struct Place {
    std::size_t indent, allowance, level;
  };

  static std::size_t width(const MarkedString& text) { return count_characters(text.bytes()); }

  void structural(std::string_view text) { out_.append(text, Origin::Template); }

  void line_break(std::size_t indent) {
    runtime_.budget().charge(indent + 1);
    structural("\n" + std::string(indent, ' '));
  }

  void write(const Value& value, Place place) {
    const MarkedString text = to_repr(runtime_, value);
    const bool fits = width(text) + place.indent + place.allowance <= kWidth;
    ++place.level;
    if (!fits && value.is(Kind::Dict) && !value.dict().empty()) {
      write_dict(value.dict(), place);
    } else if (!fits && value.is_sequence() && !value.items().empty()) {
      write_items(value, place);
    } else if (!fits && value.is_string() && !value.is_markup()) {
      write_string(value.text(), place);
    } else {
      out_.append(text);
    }
  }

  void write_dict(const Dict& dict, const Place& place) {
    structural("{");
    for (std::size_t i = 0; i < dict.size(); ++i) {
      const auto& [key, value] = dict.entry(i);
      const bool last = i + 1 == dict.size();
      const MarkedString text = to_repr(runtime_, key);
      out_.append(text);
      structural(": ");
      write(value,
            {place.indent + 1 + width(text) + 2, last ? place.allowance + 1 : 1, place.level});
      if (!last) {
        structural(",");
        line_break(place.indent + 1);
      }
    }
    structural("}");
  }

  void write_items(const Value& sequence, const Place& place) {
    const List& items = sequence.items();
    const bool tuple = sequence.is(Kind::Tuple);
    const std::string_view end = tuple ? (items.size() == 1 ? ",)" : ")") : "]";
    structural(tuple ? "(" : "[");
    for (std::size_t i = 0; i < items.size(); ++i) {
      const bool last = i + 1 == items.size();
      write(items[i], {place.indent + 1, last ? place.allowance + end.size() : 1, place.level});
      if (!last) {
        structural(",");
        line_break(place.indent + 1);
      }
    }
    structural(end);
  }

  // Pairs of a word and the white space after it.
  static std::vector<MarkedString> parts_of(const MarkedString& line) {
    std::vector<MarkedString> parts;
    std::size_t begin = 0;
    bool spaces = false;
    for (const Character& c : characters(line.bytes())) {
      const bool space = unicode::has(c.code_point, unicode::Property::Space);
      if (spaces && !space) {
        parts.push_back(line.substr(begin, c.begin));
        begin = c.begin;
      }
      spaces = space;
    }
    parts.push_back(line.substr(begin, line.size()));
    return parts;
  }

  MarkedString repr_of(const MarkedString& text) { return to_repr(runtime_, runtime_.text(text)); }

  // Packs the parts of a line into strings that fit.
  void pack(std::vector<MarkedString>& chunks, const MarkedString& line, std::size_t room,
            std::size_t last_room) {
    const std::vector<MarkedString> parts = parts_of(line);
    MarkedString current;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      MarkedString candidate = current;
      candidate.append(parts[i]);
      if (width(repr_of(candidate)) > (i + 1 == parts.size() ? last_room : room)) {
        if (!current.empty()) {
          chunks.push_back(repr_of(current));
        }
        current = parts[i];
      } else {
        current = std::move(candidate);
      }
    }
    if (!current.empty()) {
      chunks.push_back(repr_of(current));
    }
  }

  void write_string(const MarkedString& text, Place place) {
    const bool outermost = place.level == 1;
    place.indent += outermost ? 1 : 0;
    place.allowance += outermost ? 1 : 0;
    const std::size_t room = place.indent < kWidth ? kWidth - place.indent : 0;
    const std::size_t last_room = place.allowance < room ? room - place.allowance : 0;
    std::vector<MarkedString> chunks;
    const std::vector<MarkedString> lines = split_lines(runtime_, text, true);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool last = i + 1 == lines.size();
      MarkedString line = repr_of(lines[i]);
      if (width(line) <= (last ? last_room : room)) {
        chunks.push_back(std::move(line));
      } else {
        pack(chunks, lines[i], room, last ? last_room : room);
      }
    }
    structural(outermost && chunks.size() != 1 ? "(" : "");
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (i > 0) {
        line_break(place.indent);
      }
      out_.append(chunks[i]);
    }
    structural(outermost && chunks.size() != 1 ? ")" : "");
  }

  Runtime& runtime_;
  MarkedString out_;
};

}  // namespace

MarkedString pretty(Runtime& runtime, const Value& value) {
  return PrettyPrinter(runtime).print(with_sorted_keys(runtime, value));
}

}  // namespace smol::jinja
