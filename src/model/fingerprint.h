// Tells models apart whose key/value caches must not be mixed.
#pragma once

#include <cstdint>

#include "gguf/file.h"
#include "model/config.h"

namespace smol::model {

// Of the hyperparameters with the positions' encoding, and of every tensor's name, type, shape and
// a sample of its bytes. Finds accidents, not malice. Throws Error{Io} if the file cannot be read.
std::uint64_t fingerprint(const gguf::File& file, const ModelConfig& config);

}  // namespace smol::model
