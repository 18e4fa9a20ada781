// The mistakes of sensitivity.jsonl, planted in a configuration: proof that the records would catch
// them.
#pragma once

#include <string_view>

#include "model/config.h"

namespace smol::conformance {

// A mistake that does not apply to the model (no scaling, no grouping ...) changes nothing.
// Throws Error{BadInput} for an unknown name, listing the known ones.
void plant_mistake(model::ModelConfig& config, std::string_view name);

}  // namespace smol::conformance
