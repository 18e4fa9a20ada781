// Sessions, messages and parts between our types and the tables. Each function runs inside the
// caller's transaction; all throw as Connection does.
#pragma once

#include "store/connection.h"
#include "store/types.h"

namespace smol::store {

std::int64_t to_number(Time time) noexcept;
Time time_of(std::int64_t ms) noexcept;

// Those of the next new session.
Settings read_next_settings(Connection& db);
void write_next_settings(Connection& db, const Settings& settings);

// Throws Error{NotFound} for an unknown id and for a deleted session.
Session read_session(Connection& db, const SessionId& id);
void insert_session(Connection& db, const Session& session);
// Title, settings, pin, archive; not the times.
void update_session(Connection& db, const Session& session);
// The message that is to be sent when the running answer has ended.
std::optional<UserInput> read_queued(Connection& db, const SessionId& id);
void write_queued(Connection& db, const SessionId& id, const std::optional<UserInput>& input);
void touch_session(Connection& db, const SessionId& id, Time now);

// With its parts, without `branch`. Throws Error{NotFound} for an unknown id and for a deleted
// message or session.
Message read_message(Connection& db, MessageId id);
// The message and its parts under a new id, which is returned; `message.id` and `branch` count for
// nothing.
MessageId insert_message(Connection& db, const Message& message);
// State, figures and parts of an answer. Unless it is running, it can be searched, and its calls
// that have not ended failed.
void write_answer(Connection& db, MessageId id, const Answer& answer);
// Marks a running answer as interrupted, with its calls; it can be searched from then on.
void interrupt_answer(Connection& db, MessageId id);

}  // namespace smol::store
