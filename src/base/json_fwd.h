// The name of JSON values, for headers that only pass them on: base/json.h is ten times as long to
// compile.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace smol {

using Json = nlohmann::ordered_json;

}  // namespace smol
