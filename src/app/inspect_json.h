// The report of `smolbot inspect --json`.
#pragma once

#include "app/inspect_facts.h"
#include "base/json_fwd.h"
#include "gguf/file.h"

namespace smol::app {

// Arrays of the metadata are given as {"type", "length", "first"}; invalid UTF-8 becomes U+FFFD.
Json inspect_json(const gguf::File& file, const InspectFacts& facts);

}  // namespace smol::app
