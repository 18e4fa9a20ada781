// A session with its whole tree, without ids: what an export writes and an import reads.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "store/types.h"

namespace smol::store {

struct Transcript {
  struct Entry {
    Message message;                    // id, session, parent, turn and branch count for nothing
    std::optional<std::size_t> parent;  // index of an earlier entry; nothing: a root
  };

  Session session;  // its id counts for nothing
  std::vector<Entry> entries;
  std::optional<std::size_t> leaf;  // index of the last message of the active path
};

// The indices of the active path, the oldest first.
std::vector<std::size_t> active_path(const Transcript& transcript);

}  // namespace smol::store
