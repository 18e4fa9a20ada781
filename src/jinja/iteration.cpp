#include "jinja/iteration.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "jinja/names.h"

namespace smol::jinja {
namespace {

using Kind = Value::Kind;

}  // namespace

bool is_iterable(const Value& value) noexcept {
  switch (value.kind()) {
    case Kind::Undefined:
    case Kind::String:
    case Kind::Array:
    case Kind::Tuple:
    case Kind::Dict:
      return true;
    case Kind::Object:
      return value.object().iterable();
    default:
      return false;
  }
}

Iteration::Iteration(Runtime& runtime, Value iterable) : iterable_(std::move(iterable)) {
  if (iterable_.is(Kind::Object)) {
    iterator_ = iterable_.object().iterate(runtime);
  }
  if (!is_iterable(iterable_)) {
    raise_type("'" + std::string(type_name(iterable_)) + "' object is not iterable");
  }
}

std::optional<Value> Iteration::next_character(Runtime& runtime) {
  const MarkedString& text = iterable_.text();
  if (position_ >= text.size()) {
    return std::nullopt;
  }
  const std::size_t begin = position_;
  position_ += utf8::next(std::string_view(text.bytes()).substr(begin)).length;
  return runtime.text(text.substr(begin, position_));
}

std::optional<Value> Iteration::next(Runtime& runtime) {
  runtime.budget().step();
  switch (iterable_.kind()) {
    case Kind::String:
      return next_character(runtime);
    case Kind::Array:
    case Kind::Tuple:
      return position_ < iterable_.items().size()
                 ? std::optional<Value>(iterable_.items()[position_++])
                 : std::nullopt;
    case Kind::Dict:
      return position_ < iterable_.dict().size()
                 ? std::optional<Value>(iterable_.dict().entry(position_++).first)
                 : std::nullopt;
    case Kind::Object:
      return iterator_->next(runtime);
    default:
      return std::nullopt;
  }
}

List to_list(Runtime& runtime, const Value& iterable) {
  if (iterable.is_sequence()) {
    runtime.budget().charge(iterable.items().size(), sizeof(Value));
    return iterable.items();
  }
  List items;
  Iteration iteration(runtime, iterable);
  while (auto item = iteration.next(runtime)) {
    runtime.budget().charge(sizeof(Value));
    items.push_back(std::move(*item));
  }
  return items;
}

List to_reversed(Runtime& runtime, const Value& sequence) {
  if (sequence.is(Kind::Object)) {
    const auto reversed = sequence.object().iterate_reversed(runtime);
    if (!reversed) {
      raise_type("'" + std::string(type_name(sequence)) + "' object is not reversible");
    }
    List items;
    while (auto item = reversed->next(runtime)) {
      runtime.budget().charge(sizeof(Value));
      items.push_back(std::move(*item));
    }
    return items;
  }
  if (!is_iterable(sequence)) {
    raise_type("'" + std::string(type_name(sequence)) + "' object is not reversible");
  }
  List items = to_list(runtime, sequence);
  std::reverse(items.begin(), items.end());
  return items;
}

}  // namespace smol::jinja
