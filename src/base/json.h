// JSON values with insertion order (nlohmann). For documents of thousands of keys use SAX instead:
// object lookup here is linear.
#pragma once

#include <cstddef>
#include <exception>
#include <limits>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/json_fwd.h"

// Compiled once, in json.cpp: each file would else compile the whole class again.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace smol {

// What the library's exception says, without the number that it begins with.
std::string json_error_text(const std::exception& error);

// What a document may hold. A member is added to its object by a search through those before it.
struct JsonLimits {
  std::size_t members = std::numeric_limits<std::size_t>::max();  // of one object
  std::size_t values = std::numeric_limits<std::size_t>::max();   // in all
};

// Parses one document. Throws Error{BadInput} with `what` (the thing's name), line and column;
// nesting deeper than 256 is refused.
Json parse_json(std::string_view text, std::string_view what, JsonLimits limits = {});

}  // namespace smol
