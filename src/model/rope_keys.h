// RoPE scaling as a file states it ("ARCH.rope.scaling.*" and the tensor rope_freqs.weight).
#pragma once

#include <cstddef>

#include "gguf/file.h"
#include "model/config_keys.h"
#include "model/rope.h"

namespace smol::model {

// Positions, as the file gives them.
struct FileContext {
  std::size_t context_length;
  std::size_t head_dim;
};

// Type None without divisors: the file states no scaling. Throws Error{Unsupported} naming a
// scaling that this program does not know, Error{BadInput} for missing or absurd values.
RopeScaling read_rope_scaling(const gguf::File& file, const ConfigKeys& keys, FileContext context);

}  // namespace smol::model
