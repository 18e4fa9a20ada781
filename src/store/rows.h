// Sessions, messages and parts between our types and the tables. Each function runs inside the
// caller's transaction; all throw as Connection does.
#pragma once

#include "store/connection.h"
#include "store/types.h"

namespace smol::store {

std::int64_t to_number(Time time) noexcept;
Time time_of(std::int64_t ms) noexcept;

// Throws Error{NotFound} for an unknown id and for a deleted session.
Session read_session(Connection& db, const SessionId& id);
void insert_session(Connection& db, const Session& session);
// Title, settings, pin, archive; not the times.
void update_session(Connection& db, const Session& session);
void touch_session(Connection& db, const SessionId& id, Time now);

// With its parts, without `branch`. Throws Error{NotFound} for an unknown id and for a deleted
// message or session.
Message read_message(Connection& db, MessageId id);
// The message and its parts under a new id, which is returned; `message.id` and `branch` count for
// nothing.
MessageId insert_message(Connection& db, const Message& message);
// State, figures and parts of an answer; the parts can be searched unless it is running.
void write_answer(Connection& db, MessageId id, const Answer& answer);
// Puts an answer into the search index.
void make_searchable(Connection& db, MessageId id);

}  // namespace smol::store
