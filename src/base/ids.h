// Identifiers shared by all rooms.
#pragma once

#include <cstdint>

namespace smol {

using TokenId = std::int32_t;
// The KV cache of one sequence, in [0, n_slots).
using SlotId = std::uint32_t;

}  // namespace smol
