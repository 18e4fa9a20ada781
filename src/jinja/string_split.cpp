// Methods of str that cut a string into pieces.
#include <algorithm>
#include <limits>
#include <string>

#include "jinja/arguments.h"
#include "jinja/operators.h"
#include "jinja/string_methods.h"
#include "jinja/strings.h"
#include "jinja/unicode.h"

namespace smol::jinja {
namespace {

bool is_space(char32_t c) noexcept {
  return unicode::has(c, unicode::Property::Space);
}

// str.splitlines knows more line ends than "\n".
bool is_line_end(char32_t c) noexcept {
  return (c >= U'\n' && c <= U'\r') || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

Value text_list(Runtime& runtime, std::vector<MarkedString> pieces) {
  List items;
  items.reserve(pieces.size());
  for (MarkedString& piece : pieces) {
    items.push_back(runtime.text(std::move(piece)));
  }
  return runtime.list(std::move(items));
}

std::vector<MarkedString> split_spaces(Runtime& runtime, const MarkedString& text, IsSpace is_space,
                                       std::size_t most) {
  const std::string_view bytes = text.bytes();
  std::vector<MarkedString> pieces;
  std::size_t at = strip_range(bytes, Side::Left, is_space).begin;
  while (at < bytes.size()) {
    const std::size_t end =
        pieces.size() == most
            ? bytes.size()
            : at + strip_range(bytes.substr(at), Side::Left, [is_space](char32_t c) {
                     return !is_space(c);
                   }).begin;
    runtime.budget().charge(end - at + sizeof(MarkedString));
    pieces.push_back(text.substr(at, end));
    at = pieces.size() > most ? bytes.size() : end;
    at += strip_range(bytes.substr(at), Side::Left, is_space).begin;
  }
  return pieces;
}

std::vector<MarkedString> rsplit_spaces(Runtime& runtime, const MarkedString& text,
                                        IsSpace is_space, std::size_t most) {
  const std::string_view bytes = text.bytes();
  std::vector<MarkedString> pieces;
  std::size_t end = strip_range(bytes, Side::Right, is_space).end;
  while (end > 0) {
    const bool last = pieces.size() == most;
    const std::string_view rest = bytes.substr(0, end);
    const std::size_t begin =
        last ? 0
             : strip_range(rest, Side::Right, [is_space](char32_t c) { return !is_space(c); }).end;
    runtime.budget().charge(end - begin + sizeof(MarkedString));
    pieces.push_back(text.substr(begin, end));
    end = last ? 0 : strip_range(bytes.substr(0, begin), Side::Right, is_space).end;
  }
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

std::vector<MarkedString> split_at(Runtime& runtime, const MarkedString& text,
                                   std::string_view separator, std::size_t most) {
  std::vector<MarkedString> pieces;
  std::size_t at = 0;
  while (pieces.size() < most) {
    const auto found = find_bytes(text.bytes(), separator, at);
    if (!found) {
      break;
    }
    runtime.budget().charge(*found - at + sizeof(MarkedString));
    pieces.push_back(text.substr(at, *found));
    at = *found + separator.size();
  }
  runtime.budget().charge(text.size() - at);
  pieces.push_back(text.substr(at, text.size()));
  return pieces;
}

std::vector<MarkedString> rsplit_at(Runtime& runtime, const MarkedString& text,
                                    std::string_view separator, std::size_t most) {
  // On the reversed bytes, so that the search stays linear.
  const std::string reversed(text.bytes().rbegin(), text.bytes().rend());
  const std::string mark(separator.rbegin(), separator.rend());
  std::vector<MarkedString> pieces;
  const std::size_t size = text.size();
  std::size_t at = 0;
  while (pieces.size() < most) {
    const auto found = find_bytes(reversed, mark, at);
    if (!found) {
      break;
    }
    runtime.budget().charge(*found - at + sizeof(MarkedString));
    pieces.push_back(text.substr(size - *found, size - at));
    at = *found + mark.size();
  }
  pieces.push_back(text.substr(0, size - at));
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

Value split(Runtime& runtime, const Value& self, const CallArgs& call, std::string_view name,
            Side from) {
  const Bound args(call, {name, {"sep", "maxsplit"}});
  Splitting splitting{from, split_limit(args), is_space};
  if (args.given(0)) {
    splitting.separator = &require_text(args[0], "separator");
  }
  return text_list(runtime, split_text(runtime, self.text(), splitting));
}

Value strip(Runtime& runtime, const Value& self, const CallArgs& call, std::string_view name,
            Side side) {
  const Bound args(call, {name, {"chars"}, 0, true});
  const MarkedString* chars = args.given(0) ? &require_text(args[0], "strip arg") : nullptr;
  MarkedString stripped = strip_text(self.text(), side, chars);
  if (stripped.size() == self.bytes().size()) {
    return self;
  }
  return runtime.text(std::move(stripped));
}

Value partition(Runtime& runtime, const Value& self, const CallArgs& call, bool from_right) {
  const Bound args(call, {"partition", {"sep"}, 1, true});
  const MarkedString& separator = require_text(args[0], "separator");
  if (separator.empty()) {
    raise_value("empty separator");
  }
  const MarkedString& text = self.text();
  const auto found = from_right ? rfind_bytes(text.bytes(), separator.bytes(), text.size())
                                : find_bytes(text.bytes(), separator.bytes());
  const Value empty = runtime.text({}, Origin::Template);
  if (!found) {
    return from_right ? runtime.tuple({empty, empty, self}) : runtime.tuple({self, empty, empty});
  }
  const std::size_t after = *found + separator.size();
  return runtime.tuple({runtime.text(text.substr(0, *found)),
                        runtime.text(text.substr(*found, after)),
                        runtime.text(text.substr(after, text.size()))});
}

}  // namespace

MarkedString strip_text(const MarkedString& text, Side side, const MarkedString* chars) {
  Range range{};
  if (chars == nullptr) {
    range = strip_range(text.bytes(), side, is_space);
  } else {
    std::u32string set = decode(chars->bytes());
    std::sort(set.begin(), set.end());
    range = strip_range(text.bytes(), side, [&set](char32_t c) {
      return std::binary_search(set.begin(), set.end(), c);
    });
  }
  return text.substr(range.begin, range.end);
}

std::size_t split_limit(const Bound& args) {
  const std::int64_t most = args.has(1) ? to_index(args[1]) : -1;
  return most < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(most);
}

std::vector<MarkedString> split_text(Runtime& runtime, const MarkedString& text,
                                     const Splitting& splitting) {
  const bool right = splitting.from == Side::Right;
  const std::size_t most = splitting.most;
  if (splitting.separator == nullptr) {
    return right ? rsplit_spaces(runtime, text, splitting.is_space, most)
                 : split_spaces(runtime, text, splitting.is_space, most);
  }
  if (splitting.separator->empty()) {
    raise_value("empty separator");
  }
  const std::string_view separator = splitting.separator->bytes();
  return right ? rsplit_at(runtime, text, separator, most)
               : split_at(runtime, text, separator, most);
}

std::vector<MarkedString> split_words(Runtime& runtime, const MarkedString& text) {
  return split_spaces(runtime, text, is_space, std::numeric_limits<std::size_t>::max());
}

std::vector<MarkedString> split_lines(Runtime& runtime, const MarkedString& text, bool keep_ends) {
  const std::string_view bytes = text.bytes();
  std::vector<MarkedString> lines;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = at + strip_range(bytes.substr(at), Side::Left, [](char32_t c) {
                                   return !is_line_end(c);
                                 }).begin;
    std::size_t next = end + byte_of_character(bytes.substr(end), 1);
    next += end < bytes.size() && bytes[end] == '\r' && next < bytes.size() && bytes[next] == '\n'
                ? 1
                : 0;
    runtime.budget().charge(next - at + sizeof(MarkedString));
    lines.push_back(text.substr(at, keep_ends ? next : end));
    at = next;
  }
  return lines;
}

Value str_split(Runtime& runtime, const Value& self, const CallArgs& call) {
  return split(runtime, self, call, "split", Side::Left);
}

Value str_rsplit(Runtime& runtime, const Value& self, const CallArgs& call) {
  return split(runtime, self, call, "rsplit", Side::Right);
}

Value str_splitlines(Runtime& runtime, const Value& self, const CallArgs& call) {
  const Bound args(call, {"splitlines", {"keepends"}});
  const bool keep_ends = args.has(0) && truthy(runtime, args[0]);
  return text_list(runtime, split_lines(runtime, self.text(), keep_ends));
}

Value str_partition(Runtime& runtime, const Value& self, const CallArgs& call) {
  return partition(runtime, self, call, false);
}

Value str_rpartition(Runtime& runtime, const Value& self, const CallArgs& call) {
  return partition(runtime, self, call, true);
}

Value str_strip(Runtime& runtime, const Value& self, const CallArgs& call) {
  return strip(runtime, self, call, "strip", Side::Both);
}

Value str_lstrip(Runtime& runtime, const Value& self, const CallArgs& call) {
  return strip(runtime, self, call, "lstrip", Side::Left);
}

Value str_rstrip(Runtime& runtime, const Value& self, const CallArgs& call) {
  return strip(runtime, self, call, "rstrip", Side::Right);
}

Value str_removeprefix(Runtime& runtime, const Value& self, const CallArgs& call) {
  const Bound args(call, {"removeprefix", {"prefix"}, 1, true});
  const std::string& prefix = require_text(args[0], "prefix").bytes();
  if (!self.bytes().starts_with(prefix)) {
    return self;
  }
  return runtime.text(self.text().substr(prefix.size(), self.bytes().size()));
}

Value str_removesuffix(Runtime& runtime, const Value& self, const CallArgs& call) {
  const Bound args(call, {"removesuffix", {"suffix"}, 1, true});
  const std::string& suffix = require_text(args[0], "suffix").bytes();
  if (!self.bytes().ends_with(suffix)) {
    return self;
  }
  return runtime.text(self.text().substr(0, self.bytes().size() - suffix.size()));
}

}  // namespace smol::jinja
