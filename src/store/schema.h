// The tables, and how a file of an earlier version becomes one of this.
#pragma once

#include "store/connection.h"

namespace smol::store {

// Sets what holds for the whole connection (WAL, synchronous=FULL, foreign keys, secure_delete) and
// migrates the file, an empty one too. Throws Error{Unsupported} for a file of a newer version,
// Error{BadInput} for a database of something else, and as Connection does.
void prepare_schema(Connection& connection);

}  // namespace smol::store
