// JSON values with insertion order (nlohmann). For documents of thousands of keys use SAX instead:
// object lookup here is linear.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/json_fwd.h"

// Compiled once, in json.cpp: each file would else compile the whole class again.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace smol {

// What the library's exception says, without the number that it begins with.
std::string json_error_text(const std::exception& error);

// Parses one document. Throws Error{BadInput} with `what` (the thing's name), line and column;
// nesting deeper than 256 is refused.
Json parse_json(std::string_view text, std::string_view what);

}  // namespace smol
