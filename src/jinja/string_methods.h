// Methods of str that cut, search and build.
#pragma once

#include <vector>

#include "jinja/arguments.h"
#include "jinja/runtime.h"
#include "jinja/strings.h"
#include "jinja/value.h"

namespace smol::jinja {

// text.splitlines(keepends)
std::vector<MarkedString> split_lines(Runtime& runtime, const MarkedString& text, bool keep_ends);
// text.strip(chars), lstrip, rstrip; null: white space.
MarkedString strip_text(const MarkedString& text, Side side, const MarkedString* chars);

using IsSpace = bool (*)(char32_t) noexcept;

// How split() and rsplit() cut.
struct Splitting {
  Side from;  // Left or Right
  std::size_t most;
  IsSpace is_space;
  const MarkedString* separator = nullptr;  // null: runs of white space
};

// "maxsplit", the second argument.
std::size_t split_limit(const Bound& args);
// Throws Fault{Value} for an empty separator.
std::vector<MarkedString> split_text(Runtime& runtime, const MarkedString& text,
                                     const Splitting& splitting);
// text.split(): words between white space.
std::vector<MarkedString> split_words(Runtime& runtime, const MarkedString& text);
// text.replace(old, now, count); count < 0: all.
MarkedString replace_text(Runtime& runtime, const MarkedString& text, const MarkedString& old,
                          const MarkedString& now, std::int64_t count);
// text.center(width) with spaces
MarkedString center_text(Runtime& runtime, const MarkedString& text, std::int64_t width,
                         const MarkedString& fill);

Value str_split(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_rsplit(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_splitlines(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_partition(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_rpartition(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_strip(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_lstrip(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_rstrip(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_removeprefix(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_removesuffix(Runtime& runtime, const Value& self, const CallArgs& args);

Value str_find(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_rfind(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_index(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_rindex(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_count(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_startswith(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_endswith(Runtime& runtime, const Value& self, const CallArgs& args);

Value str_join(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_replace(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_center(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_ljust(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_rjust(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_zfill(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_expandtabs(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_translate(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_encode(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_format(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_format_map(Runtime& runtime, const Value& self, const CallArgs& args);

}  // namespace smol::jinja
