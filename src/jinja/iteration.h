// Python's iter() and next() over any value.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "jinja/object.h"
#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

// Lists and tuples yield items, strings characters, dicts keys, undefined values nothing; an
// iterator object goes on where it stands.
class Iteration final : public ValueIterator {
 public:
  // Throws Fault{Type}: "'int' object is not iterable".
  Iteration(Runtime& runtime, Value iterable);
  std::optional<Value> next(Runtime& runtime) override;

 private:
  std::optional<Value> next_character(Runtime& runtime);

  Value iterable_;
  std::shared_ptr<ValueIterator> iterator_;  // of an object
  std::size_t position_ = 0;                 // item or byte
};

bool is_iterable(const Value& value) noexcept;
List to_list(Runtime& runtime, const Value& iterable);
// reversed(x) as a list. Throws Fault{Type} where Python's reversed() does.
List to_reversed(Runtime& runtime, const Value& sequence);

}  // namespace smol::jinja
