// The key-value section of a GGUF file.
#pragma once

#include <cstddef>
#include <vector>

#include "gguf/cursor.h"
#include "gguf/metadata.h"

namespace smol::gguf {

// Reads `count` pairs; the cursor stands behind them afterwards. Refuses empty, overlong and
// repeated keys, unknown value types, nested arrays (Error{Unsupported}) and everything that does
// not fit the file.
std::vector<Metadata::Entry> read_metadata(Cursor& cursor, std::size_t count);

}  // namespace smol::gguf
