#include "jinja/value.h"

#include <algorithm>
#include <bit>

#include "jinja/object.h"

namespace smol::jinja {
namespace {

std::uint32_t check_depth(std::uint32_t depth) {
  if (depth > kMaxNesting) {
    raise(FaultKind::Limit, "lists and dicts are nested too deeply");
  }
  return depth;
}

std::shared_ptr<const Sequence> make_sequence(List items, bool is_group) {
  std::uint32_t deepest = 0;
  for (const Value& item : items) {
    deepest = std::max(deepest, item.depth());
  }
  return std::make_shared<const Sequence>(
      Sequence{std::move(items), check_depth(deepest + 1), is_group});
}

}  // namespace

Value Value::undefined(Undefined info) {
  return Value(Data(std::make_shared<const Undefined>(std::move(info))));
}

Value Value::none() {
  return Value(Data(NoneType{}));
}

Value Value::boolean(bool value) {
  return Value(Data(value));
}

Value Value::integer(std::int64_t value) {
  return Value(Data(value));
}

Value Value::integer(const BigInt& value) {
  if (const auto small = value.to_int64()) {
    return integer(*small);
  }
  return Value(Data(std::make_shared<const BigInt>(value)));
}

Value Value::number(double value) {
  return Value(Data(value));
}

Value Value::string(MarkedString text, bool markup) {
  return string(std::make_shared<const MarkedString>(std::move(text)), markup);
}

Value Value::string(std::string bytes, Origin origin) {
  return string(MarkedString(std::move(bytes), origin));
}

Value Value::string(std::shared_ptr<const MarkedString> text, bool markup) {
  return Value(Data(Text{std::move(text), markup}));
}

Value Value::list(List items) {
  return Value(Data(ListRef{make_sequence(std::move(items), false)}));
}

Value Value::tuple(List items) {
  return Value(Data(TupleRef{make_sequence(std::move(items), false)}));
}

Value Value::group(Value grouper, Value items) {
  return Value(Data(TupleRef{make_sequence({std::move(grouper), std::move(items)}, true)}));
}

Value Value::dict(Dict entries) {
  check_depth(entries.depth());
  return Value(Data(std::make_shared<const Dict>(std::move(entries))));
}

Value Value::object(std::shared_ptr<Object> object) {
  check_depth(object->depth());
  return Value(Data(std::move(object)));
}

const Sequence& Value::sequence() const {
  return is(Kind::Array) ? *get<ListRef>().sequence : *get<TupleRef>().sequence;
}

std::uint32_t Value::depth() const noexcept {
  switch (kind()) {
    case Kind::Array:
      return std::get_if<ListRef>(&data_)->sequence->depth;
    case Kind::Tuple:
      return std::get_if<TupleRef>(&data_)->sequence->depth;
    case Kind::Dict:
      return (*std::get_if<std::shared_ptr<const Dict>>(&data_))->depth();
    case Kind::Object:
      return (*std::get_if<std::shared_ptr<Object>>(&data_))->depth();
    default:
      return 0;
  }
}

bool Value::same_as(const Value& other) const noexcept {
  if (kind() != other.kind()) {
    return false;
  }
  switch (kind()) {
    case Kind::Missing:
    case Kind::None:
      return true;
    case Kind::Undefined:
      return &undefined() == &other.undefined();
    case Kind::Bool:
      return boolean() == other.boolean();
    case Kind::Int:
      return integer() == other.integer();
    case Kind::BigInt:
      return &big() == &other.big();
    case Kind::Float:
      return std::bit_cast<std::uint64_t>(number()) == std::bit_cast<std::uint64_t>(other.number());
    case Kind::String:
      return shared_text() == other.shared_text() ||
             (bytes() == other.bytes() && bytes().size() <= 1 && is_markup() == other.is_markup());
    case Kind::Array:
    case Kind::Tuple:
      return &sequence() == &other.sequence();
    case Kind::Dict:
      return &dict() == &other.dict();
    case Kind::Object:
      return &object() == &other.object();
  }
  return false;
}

}  // namespace smol::jinja
