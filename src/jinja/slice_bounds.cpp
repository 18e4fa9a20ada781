#include "jinja/slice_bounds.h"

#include <algorithm>

#include "jinja/fault.h"
#include "jinja/operators.h"

namespace smol::jinja {
namespace {

std::int64_t slice_index(const Value& value) {
  if (!value.is_integral()) {
    raise_type("slice indices must be integers or None or have an __index__ method");
  }
  return to_index(value);
}

}  // namespace

SliceBounds slice_bounds(std::size_t size, const Value& start, const Value& stop,
                         const Value& step) {
  const auto given = [](const Value& value) { return !value.is_missing() && !value.is_none(); };
  const std::int64_t by = given(step) ? slice_index(step) : 1;
  if (by == 0) {
    raise_value("slice step cannot be zero");
  }
  const auto length = static_cast<std::int64_t>(size);
  const std::int64_t lowest = by < 0 ? -1 : 0;
  const std::int64_t highest = by < 0 ? length - 1 : length;
  const auto bound = [&](const Value& value, std::int64_t otherwise) {
    if (!given(value)) {
      return otherwise;
    }
    const std::int64_t index = slice_index(value);
    return std::clamp(index < 0 ? index + length : index, lowest, highest);
  };
  const std::int64_t first = bound(start, by < 0 ? highest : lowest);
  const std::int64_t last = bound(stop, by < 0 ? lowest : highest);
  const std::int64_t span = by < 0 ? first - last : last - first;
  const auto stride = by < 0 ? 0 - static_cast<std::uint64_t>(by) : static_cast<std::uint64_t>(by);
  const std::size_t count =
      span <= 0 ? 0 : static_cast<std::size_t>((static_cast<std::uint64_t>(span) - 1) / stride + 1);
  return {first, last, by, count};
}

}  // namespace smol::jinja
