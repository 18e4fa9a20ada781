// Ids that nobody can guess.
#pragma once

#include "store/types.h"

namespace smol::store {

// 128 bits from the kernel as 32 hexadecimal digits. Throws Error{Io} if it has none to give.
SessionId new_session_id();

}  // namespace smol::store
