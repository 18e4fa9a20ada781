#include "store/tree.h"

#include <algorithm>
#include <string_view>

#include "store/rows.h"

namespace smol::store {

std::optional<MessageId> leaf_of(Connection& db, const SessionId& session) {
  Rows row = db.query("SELECT leaf_id FROM sessions WHERE id = ?1", std::string_view(session));
  return row.next() ? row.maybe_integer(0) : std::nullopt;
}

void set_leaf(Connection& db, const SessionId& session, std::optional<MessageId> leaf) {
  db.execute("UPDATE sessions SET leaf_id = ?2 WHERE id = ?1", std::string_view(session), leaf);
}

std::vector<MessageId> path_to(Connection& db, MessageId leaf, std::size_t limit,
                               std::optional<MessageId> top) {
  Rows row = db.query(
      "WITH RECURSIVE up (id, parent_id, steps) AS ("
      " SELECT id, parent_id, 1 FROM messages WHERE id = ?1"
      " UNION ALL SELECT m.id, m.parent_id, up.steps + 1 FROM up JOIN messages m"
      " ON m.id = up.parent_id WHERE up.steps < ?2 AND up.id IS NOT ?3)"
      " SELECT id FROM up",
      leaf, limit, top);
  std::vector<MessageId> ids;
  while (row.next()) {
    ids.push_back(row.integer(0));
  }
  std::ranges::reverse(ids);
  return ids;
}

MessageId newest_leaf(Connection& db, MessageId id) {
  // A child's id is above its parent's, so the largest of the chain is its end.
  Rows row = db.query(
      "WITH RECURSIVE down (id) AS (VALUES (?1) UNION ALL SELECT"
      " (SELECT max(c.id) FROM messages c WHERE c.parent_id = down.id AND c.deletion_id IS NULL)"
      " FROM down WHERE down.id IS NOT NULL) SELECT max(id) FROM down",
      id);
  return row.next() ? row.integer(0) : id;
}

std::optional<MessageId> newest_leaf(Connection& db, const SessionId& session) {
  std::optional<MessageId> root;
  {
    Rows row = db.query(
        "SELECT max(id) FROM messages WHERE session_id = ?1 AND parent_id IS NULL"
        " AND deletion_id IS NULL",
        std::string_view(session));
    root = row.next() ? row.maybe_integer(0) : std::nullopt;
  }
  return root ? std::optional(newest_leaf(db, *root)) : std::nullopt;
}

Branch branch_of(Connection& db, const Message& message) {
  Rows row = db.query(
      "SELECT count(*), count(*) FILTER (WHERE id <= ?3), max(id) FILTER (WHERE id < ?3),"
      " min(id) FILTER (WHERE id > ?3) FROM messages"
      " WHERE session_id = ?1 AND parent_id IS ?2 AND deletion_id IS NULL",
      std::string_view(message.session), message.parent, message.id);
  Branch branch;
  if (row.next()) {
    branch.count = static_cast<std::size_t>(row.integer(0));
    branch.index = static_cast<std::size_t>(row.integer(1));
    branch.previous = row.maybe_integer(2);
    branch.next = row.maybe_integer(3);
  }
  return branch;
}

std::vector<Message> read_messages(Connection& db, const std::vector<MessageId>& ids) {
  std::vector<Message> messages;
  messages.reserve(ids.size());
  for (const MessageId id : ids) {
    messages.push_back(read_message(db, id));
    messages.back().branch = branch_of(db, messages.back());
  }
  return messages;
}

}  // namespace smol::store
