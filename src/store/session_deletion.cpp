// SessionStore: deleting, undo, and leaving nothing behind.
#include <string_view>
#include <vector>

#include "store/connection.h"
#include "store/names.h"
#include "store/rows.h"
#include "store/session_store.h"
#include "store/title.h"
#include "store/tree.h"

namespace smol::store {
namespace {

DeletionId record(Connection& db, const SessionId& session, std::optional<MessageId> message,
                  Time now) {
  db.execute(
      "INSERT INTO deletions (session_id, message_id, leaf_id, created_at) VALUES (?1, ?2, ?3, ?4)",
      std::string_view(session), message, leaf_of(db, session), to_number(now));
  return db.last_insert_id();
}

// Marks the message and all below it, but for what an earlier deletion has taken.
void mark_below(Connection& db, MessageId message, DeletionId deletion) {
  db.execute(
      "WITH RECURSIVE below (id) AS (VALUES (?1) UNION ALL"
      " SELECT m.id FROM messages m JOIN below ON m.parent_id = below.id)"
      " UPDATE messages SET deletion_id = ?2"
      " WHERE id IN (SELECT id FROM below) AND deletion_id IS NULL",
      message, deletion);
}

bool is_deleted(Connection& db, std::optional<MessageId> message) {
  if (!message) {
    return false;
  }
  Rows row = db.query("SELECT deletion_id IS NOT NULL FROM messages WHERE id = ?1", *message);
  return !row.next() || row.flag(0);
}

// Whether what it belongs to is still there.
bool can_return(Connection& db, const Deletion& deletion) {
  if (!deletion.message) {
    return true;
  }
  Rows row = db.query(
      "SELECT s.deletion_id IS NULL AND (m.parent_id IS NULL OR p.deletion_id IS NULL)"
      " FROM messages m JOIN sessions s ON s.id = m.session_id"
      " LEFT JOIN messages p ON p.id = m.parent_id WHERE m.id = ?1",
      *deletion.message);
  return row.next() && row.flag(0);
}

// A title that is the first message's line follows the first one that is there.
void follow_first_message(Connection& db, const SessionId& id) {
  Session session = read_session(db, id);
  if (session.title_origin != TitleOrigin::FirstLine) {
    return;
  }
  std::optional<MessageId> first;
  {
    Rows row = db.query(
        "SELECT min(id) FROM messages WHERE session_id = ?1 AND role = ?2 AND deletion_id IS NULL",
        std::string_view(id), name_of(Role::User));
    first = row.next() ? row.maybe_integer(0) : std::nullopt;
  }
  const Message message = first ? read_message(db, *first) : Message{};
  session.title = first_title(message.text, message.attachments);
  update_session(db, session);
}

std::vector<DeletionId> deletion_ids(Connection& db, std::string_view sql, std::int64_t value) {
  Rows row = db.query(sql, value);
  std::vector<DeletionId> ids;
  while (row.next()) {
    ids.push_back(row.integer(0));
  }
  return ids;
}

}  // namespace

Deletion SessionStore::erase_session(const SessionId& id) {
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  read_session(*connection_, id);
  const DeletionId deletion = record(*connection_, id, std::nullopt, clock_());
  connection_->execute("UPDATE sessions SET deletion_id = ?2 WHERE id = ?1", std::string_view(id),
                       deletion);
  transaction.commit();
  return {deletion, id, std::nullopt};
}

Deletion SessionStore::erase_message(MessageId id) {
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  const Message message = read_message(*connection_, id);
  const SessionId& session = message.session;
  const DeletionId deletion = record(*connection_, session, id, clock_());
  mark_below(*connection_, id, deletion);
  if (is_deleted(*connection_, leaf_of(*connection_, session))) {
    set_leaf(*connection_, session,
             message.parent ? newest_leaf(*connection_, *message.parent)
                            : newest_leaf(*connection_, session));
  }
  follow_first_message(*connection_, session);
  touch_session(*connection_, session, clock_());
  transaction.commit();
  return {deletion, session, id};
}

std::optional<Deletion> SessionStore::undo(DeletionId id) {
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  Deletion deletion{id, {}, std::nullopt};
  std::optional<MessageId> leaf;  // where it was among what was deleted
  {
    Rows row = connection_->query(
        "SELECT d.session_id, d.message_id, m.id FROM deletions d"
        " LEFT JOIN messages m ON m.id = d.leaf_id AND m.deletion_id = d.id"
        " WHERE d.id = ?1 AND d.created_at > ?2 AND NOT d.purged",
        id, to_number(clock_() - kUndoTime));
    if (!row.next()) {
      return std::nullopt;
    }
    deletion.session = row.text(0);
    deletion.message = row.maybe_integer(1);
    leaf = row.maybe_integer(2);
  }
  if (!can_return(*connection_, deletion)) {
    return std::nullopt;
  }
  connection_->execute("UPDATE sessions SET deletion_id = NULL WHERE deletion_id = ?1", id);
  connection_->execute("UPDATE messages SET deletion_id = NULL WHERE deletion_id = ?1", id);
  if (!leaf && !leaf_of(*connection_, deletion.session)) {
    leaf = newest_leaf(*connection_, deletion.session);
  }
  if (leaf) {
    set_leaf(*connection_, deletion.session, leaf);
  }
  follow_first_message(*connection_, deletion.session);
  connection_->execute("DELETE FROM deletions WHERE id = ?1", id);
  transaction.commit();
  return deletion;
}

std::vector<Deletion> SessionStore::deletions() const {
  const Lock lock(mutex_);
  Rows row =
      connection_->query("SELECT id, session_id, message_id FROM deletions WHERE NOT purged");
  std::vector<Deletion> found;
  while (row.next()) {
    found.push_back({row.integer(0), row.text(1), row.maybe_integer(2)});
  }
  return found;
}

bool SessionStore::purge() {
  const Lock lock(mutex_);
  remove_expired();
  if (connection_->query("SELECT 1 FROM deletions WHERE purged").next()) {
    scrub();
    return true;
  }
  return connection_->query("SELECT 1 FROM deletions").next();
}

void SessionStore::remove_expired() {
  Transaction transaction(*connection_);
  const auto expired =
      deletion_ids(*connection_, "SELECT id FROM deletions WHERE created_at <= ?1 AND NOT purged",
                   to_number(clock_() - kUndoTime));
  for (const DeletionId id : expired) {
    connection_->execute("DELETE FROM sessions WHERE deletion_id = ?1", id);
    // Whatever hangs below goes with it, also what another deletion took.
    connection_->execute(
        "WITH RECURSIVE below (id) AS (SELECT id FROM messages WHERE deletion_id = ?1 UNION"
        " SELECT m.id FROM messages m JOIN below ON m.parent_id = below.id)"
        " DELETE FROM messages WHERE id IN (SELECT id FROM below)",
        id);
    connection_->execute("UPDATE deletions SET purged = 1 WHERE id = ?1", id);
  }
  transaction.commit();
}

// secure_delete overwrites deleted rows, but a search index keeps deleted words until its segments
// are merged, and rows that SQLite moved between pages leave copies in the pages' gaps: only a new
// file and an empty WAL are certain. The deletions stay on record until then, for a crash, and for
// another program that is reading the file: it keeps the WAL as it is.
void SessionStore::scrub() {
  if (connection_->query("SELECT 1 FROM deletions WHERE purged = 1").next()) {
    connection_->execute("INSERT INTO found_parts (found_parts) VALUES ('optimize')");
    connection_->execute("VACUUM");
    connection_->execute("UPDATE deletions SET purged = 2 WHERE purged = 1");
  }
  {
    Rows row = connection_->query("PRAGMA wal_checkpoint(TRUNCATE)");
    const bool is_busy = !row.next() || row.flag(0);
    if (is_busy) {
      return;
    }
  }
  connection_->execute("DELETE FROM deletions WHERE purged");
}

}  // namespace smol::store
