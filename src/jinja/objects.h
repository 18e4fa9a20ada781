// The objects that templates meet: ranges, dict views, namespaces, bytes, iterators, functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "jinja/object.h"
#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

Value make_bytes(Runtime& runtime, const MarkedString& utf8);
Value make_range(std::int64_t start, std::int64_t stop, std::int64_t step);

enum class ViewKind { Keys, Values, Items };
Value make_dict_view(const Value& dict, ViewKind kind);

Value make_namespace(Runtime& runtime, Dict attributes);
bool is_namespace(const Value& value) noexcept;
// Requires: is_namespace(value).
void set_namespace_attribute(Runtime& runtime, const Value& value, std::string_view name,
                             Value attribute);

// An iterator as a value. `depth`: of what it holds.
Value make_iterator(std::shared_ptr<ValueIterator> iterator, std::uint32_t depth,
                    std::string_view type_name);
// Yields the items.
Value make_list_iterator(List items, std::string_view type_name);

using Function = Value (*)(Runtime& runtime, const CallArgs& args);
// `repr`: what printing it shows, "<class 'dict'>".
Value make_function(std::string_view repr, Function function);

Value make_cycler(Runtime& runtime, List items);
Value make_joiner(Runtime& runtime, Value separator);

}  // namespace smol::jinja
