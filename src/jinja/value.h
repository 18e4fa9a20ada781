// The values of a template: Python's None, bool, int, float, str, list, tuple and dict, jinja's
// Undefined, and objects (object.h). Immutable and cheap to copy: everything of variable size is
// shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "jinja/big_int.h"
#include "jinja/budget.h"
#include "jinja/marked_string.h"

namespace smol::jinja {

class Value;
class Dict;
class Object;
using List = std::vector<Value>;

// Containers nest no deeper than this; a factory throws Fault{Limit} beyond it.
inline constexpr std::uint32_t kMaxNesting = 320;

// Why a value is undefined; the message is only made when someone needs it.
struct Undefined {
  std::string hint;    // the whole message, or empty
  std::string object;  // "dict object": the object that lacks `name`; empty: a variable
  std::shared_ptr<const Value> name;
  FaultKind fault = FaultKind::Undefined;
};

struct Sequence {
  List items;
  std::uint32_t depth;    // 1 + the depth of the deepest item
  bool is_group = false;  // a tuple of the groupby filter: has .grouper and .list
};

class Value {
 public:
  enum class Kind {
    Missing,  // no value: an argument that was not passed, a variable before its first assignment
    Undefined,
    None,
    Bool,
    Int,
    BigInt,  // beyond 64 bits
    Float,
    String,
    Array,  // a list
    Tuple,
    Dict,
    Object,
  };

  Value() = default;  // Missing
  static Value undefined(Undefined info);
  static Value none();
  static Value boolean(bool value);
  static Value integer(std::int64_t value);
  static Value integer(const BigInt& value);  // Int where it fits
  static Value number(double value);
  // `markup`: already safe to stand in HTML.
  static Value string(MarkedString text, bool markup = false);
  static Value string(std::string bytes, Origin origin);
  static Value string(std::shared_ptr<const MarkedString> text, bool markup);
  static Value list(List items);
  static Value tuple(List items);
  static Value group(Value grouper, Value items);
  static Value dict(Dict entries);
  static Value object(std::shared_ptr<Object> object);

  Kind kind() const noexcept { return static_cast<Kind>(data_.index()); }

  bool is(Kind kind) const noexcept { return this->kind() == kind; }

  bool is_missing() const noexcept { return is(Kind::Missing); }

  bool is_undefined() const noexcept { return is(Kind::Undefined); }

  bool is_none() const noexcept { return is(Kind::None); }

  bool is_string() const noexcept { return is(Kind::String); }

  bool is_markup() const noexcept { return is_string() && get<Text>().markup; }

  // Bool, Int or BigInt.
  bool is_integral() const noexcept { return kind() >= Kind::Bool && kind() <= Kind::BigInt; }

  bool is_number() const noexcept { return kind() >= Kind::Bool && kind() <= Kind::Float; }

  bool is_sequence() const noexcept { return is(Kind::Array) || is(Kind::Tuple); }

  // Each requires its kind.
  const Undefined& undefined() const { return *get<std::shared_ptr<const Undefined>>(); }

  bool boolean() const { return get<bool>(); }

  std::int64_t integer() const { return get<std::int64_t>(); }

  const BigInt& big() const { return *get<std::shared_ptr<const BigInt>>(); }

  double number() const { return get<double>(); }

  const MarkedString& text() const { return *get<Text>().string; }

  const std::string& bytes() const { return text().bytes(); }

  const std::shared_ptr<const MarkedString>& shared_text() const { return get<Text>().string; }

  const List& items() const { return sequence().items; }  // List or Tuple

  const Sequence& sequence() const;

  const Dict& dict() const { return *get<std::shared_ptr<const Dict>>(); }

  Object& object() const { return *get<std::shared_ptr<Object>>(); }

  const std::shared_ptr<Object>& shared_object() const { return get<std::shared_ptr<Object>>(); }

  // Containers within containers, 0 for scalars.
  std::uint32_t depth() const noexcept;
  // The very same object (Python's `is`).
  bool same_as(const Value& other) const noexcept;

 private:
  struct Text {
    std::shared_ptr<const MarkedString> string;
    bool markup;
  };

  struct NoneType {};

  struct ListRef {
    std::shared_ptr<const Sequence> sequence;
  };

  struct TupleRef {
    std::shared_ptr<const Sequence> sequence;
  };

  using Data = std::variant<std::monostate, std::shared_ptr<const Undefined>, NoneType, bool,
                            std::int64_t, std::shared_ptr<const BigInt>, double, Text, ListRef,
                            TupleRef, std::shared_ptr<const Dict>, std::shared_ptr<Object>>;

  explicit Value(Data data) : data_(std::move(data)) {}

  template <class T>
  const T& get() const {
    return std::get<T>(data_);
  }

  Data data_;
};

// A dict in insertion order with Python's keys: 1, 1.0 and true are one key. Lookups are O(1).
class Dict {
 public:
  using Entry = std::pair<Value, Value>;

  Dict() = default;
  // For callers: string keys of Origin::Input.
  Dict(std::initializer_list<std::pair<std::string_view, Value>> entries);

  std::size_t size() const noexcept { return entries_.size(); }

  bool empty() const noexcept { return entries_.empty(); }

  std::vector<Entry>::const_iterator begin() const noexcept { return entries_.begin(); }

  std::vector<Entry>::const_iterator end() const noexcept { return entries_.end(); }

  const Entry& entry(std::size_t index) const { return entries_[index]; }

  std::uint32_t depth() const noexcept { return depth_; }

  // Null if there is no such key.
  const Value* find(std::string_view key) const;
  // Throws Fault{Type} if `key` is not hashable.
  const Value* find(const Value& key, Budget& budget) const;
  // A key that is there keeps its place and its first spelling.
  void set(std::string_view key, Value value, Origin key_origin = Origin::Input);
  void set(Value key, Value value, Budget& budget);

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  template <class Equal>
  std::size_t locate(std::size_t hash, const Equal& equal) const;
  void insert(Value key, std::size_t hash, Value value);
  void grow_index();
  void index_entry(std::size_t entry);

  std::vector<Entry> entries_;
  std::vector<std::size_t> hashes_;   // of entries_
  std::vector<std::uint32_t> index_;  // open addressing: entry + 1, 0 free; empty while small
  std::uint32_t depth_ = 1;
};

}  // namespace smol::jinja
