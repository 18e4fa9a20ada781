// The tree of messages of a session: its active path, siblings, and what hangs below a message.
// Each function runs inside the caller's transaction; all throw as Connection does.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "store/connection.h"
#include "store/types.h"

namespace smol::store {

inline constexpr std::size_t kWholePath = std::numeric_limits<std::int32_t>::max();

// The session's leaf: the last message of the active path, if there is one.
std::optional<MessageId> leaf_of(Connection& db, const SessionId& session);
void set_leaf(Connection& db, const SessionId& session, std::optional<MessageId> leaf);

// The ids from an ancestor of `leaf` down to it, at most `limit`, ending earlier at the root or at
// `top` (which is then the first).
std::vector<MessageId> path_to(Connection& db, MessageId leaf, std::size_t limit = kWholePath,
                               std::optional<MessageId> top = std::nullopt);

// The newest leaf below the message, or the message itself.
MessageId newest_leaf(Connection& db, MessageId id);
// The newest leaf of the session.
std::optional<MessageId> newest_leaf(Connection& db, const SessionId& session);

// Its place among its siblings; deleted ones do not count.
Branch branch_of(Connection& db, const Message& message);

// The messages of these ids, each with its branch.
std::vector<Message> read_messages(Connection& db, const std::vector<MessageId>& ids);

}  // namespace smol::store
