// List with behaviour: functions, macros, namespaces, loops, ranges, iterators. Python's object
// protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jinja/value.h"

namespace smol::jinja {

class Runtime;
struct Method;

struct CallArgs {
  List positional;
  std::vector<std::pair<std::string, Value>> keyword;
};

// Yields values until it is empty; used once.
class ValueIterator {
 public:
  virtual ~ValueIterator() = default;
  ValueIterator() = default;
  ValueIterator(const ValueIterator&) = delete;
  ValueIterator& operator=(const ValueIterator&) = delete;
  virtual std::optional<Value> next(Runtime& runtime) = 0;
};

class Object : public std::enable_shared_from_this<Object> {
 public:
  explicit Object(std::uint32_t depth = 1) : depth_(depth) {}

  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  std::uint32_t depth() const noexcept { return depth_; }

  // type(x).__name__, and what error messages call it.
  virtual std::string_view type_name() const noexcept = 0;

  virtual std::string type_repr() const { return std::string(type_name()) + " object"; }

  virtual MarkedString repr(Runtime& runtime);
  // Missing if there is none.
  virtual Value attribute(Runtime& runtime, std::string_view name);

  // A built-in method (methods.h), called with this object as self; null if there is none.
  virtual const Method* method(std::string_view /*name*/) const noexcept { return nullptr; }

  virtual Value item(Runtime& runtime,
                     const Value& key);  // Missing: not subscriptable, no such item
  virtual Value slice(Runtime& runtime, const Value& start, const Value& stop,
                      const Value& step);  // or Missing

  virtual bool callable() const noexcept { return false; }

  virtual Value call(Runtime& runtime, const CallArgs& args);
  // len(); nullopt: has none.
  virtual std::optional<std::size_t> length(Runtime& runtime);
  // Null: not iterable.
  virtual std::shared_ptr<ValueIterator> iterate(Runtime& runtime);
  // iter(reversed(x)); null: not reversible.
  virtual std::shared_ptr<ValueIterator> iterate_reversed(Runtime& runtime);

  virtual bool iterable() const noexcept { return false; }

  virtual bool equals(Budget& budget, const Object& other) const;
  // nullopt: compare with each item in turn.
  virtual std::optional<bool> contains(Runtime& runtime, const Value& value);

  // Drops what it holds: rendering has ended.
  virtual void clear() noexcept {}

 private:
  std::uint32_t depth_;
};

}  // namespace smol::jinja
