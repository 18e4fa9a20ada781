// Numbers as text, the way of C's and Python's format letters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "jinja/runtime.h"

namespace smol::jinja {

struct FloatFormat {
  char type;  // e f g (E F G)
  int precision;
  bool alternate = false;     // keep the point and trailing zeros
  bool add_dot_zero = false;  // "1.0", not "1" (type g)
};

// With a minus where negative. Charges the length.
std::string format_float(Runtime& runtime, double value, const FloatFormat& format);

// `digits` with `separator` after every `group` of them from the right, with leading zeros up to
// `min_width` characters.
std::string group_digits(Runtime& runtime, std::string_view digits, char separator,
                         std::size_t group, std::size_t min_width);

}  // namespace smol::jinja
