// slice.indices() of Python.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jinja/value.h"

namespace smol::jinja {

// The items at start, start + step, ..., `count` of them, all within the sequence; `stop` lies
// behind the last one and may be -1 or the size.
struct SliceBounds {
  std::int64_t start, stop, step;
  std::size_t count;
};

// Of x[start:stop:step], each Missing or None where left out, for a sequence of `size` items.
// Throws Fault: a step of 0, a bound that is no integer.
SliceBounds slice_bounds(std::size_t size, const Value& start, const Value& stop,
                         const Value& step);

}  // namespace smol::jinja
