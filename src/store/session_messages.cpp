// SessionStore: the messages of a session.
#include <utility>

#include "store/checks.h"
#include "store/connection.h"
#include "store/rows.h"
#include "store/session_store.h"
#include "store/tree.h"

namespace smol::store {

Message SessionStore::message(MessageId id) const {
  const Lock lock(mutex_);
  Message message = read_message(*connection_, id);
  message.branch = branch_of(*connection_, message);
  return message;
}

std::optional<MessageId> SessionStore::last_message(const SessionId& id) const {
  const Lock lock(mutex_);
  read_session(*connection_, id);
  return leaf_of(*connection_, id);
}

Page SessionStore::page_up_from(std::optional<MessageId> leaf, std::size_t limit) const {
  Page page;
  if (!leaf || limit == 0) {
    return page;
  }
  std::vector<MessageId> ids = path_to(*connection_, *leaf, limit + 1);
  if (ids.size() > limit) {
    ids.erase(ids.begin());
    page.older_than = ids.front();
  }
  page.messages = read_messages(*connection_, ids);
  return page;
}

Page SessionStore::newest_messages(const SessionId& id, std::size_t limit) const {
  const Lock lock(mutex_);
  const Transaction snapshot(*connection_);
  read_session(*connection_, id);
  return page_up_from(leaf_of(*connection_, id), limit);
}

Page SessionStore::messages_before(MessageId id, std::size_t limit) const {
  const Lock lock(mutex_);
  const Transaction snapshot(*connection_);
  return page_up_from(read_message(*connection_, id).parent, limit);
}

std::optional<std::vector<Message>> SessionStore::messages_after(MessageId id) const {
  const Lock lock(mutex_);
  const Transaction snapshot(*connection_);
  const auto leaf = leaf_of(*connection_, read_message(*connection_, id).session);
  if (!leaf) {
    return std::nullopt;
  }
  std::vector<MessageId> ids = path_to(*connection_, *leaf, kWholePath, id);
  if (ids.front() != id) {
    return std::nullopt;
  }
  ids.erase(ids.begin());
  return read_messages(*connection_, ids);
}

std::vector<Message> SessionStore::messages_up_to(MessageId id) const {
  const Lock lock(mutex_);
  const Transaction snapshot(*connection_);
  read_message(*connection_, id);
  return read_messages(*connection_, path_to(*connection_, id));
}

std::optional<FoundCall> SessionStore::find_call(std::string_view call_id) const {
  const Lock lock(mutex_);
  const Transaction snapshot(*connection_);
  FoundCall found;
  {
    Rows row = connection_->query(
        "SELECT p.message_id, p.position FROM parts p JOIN messages m ON m.id = p.message_id"
        " JOIN sessions s ON s.id = m.session_id WHERE p.call_id = ?1"
        " AND m.deletion_id IS NULL AND s.deletion_id IS NULL ORDER BY p.id DESC LIMIT 1",
        call_id);
    if (!row.next()) {
      return std::nullopt;
    }
    found.message = row.integer(0);
    found.index = static_cast<std::size_t>(row.integer(1));
  }
  const Message message = read_message(*connection_, found.message);
  found.call = std::get<ToolPart>(message.answer.parts.at(found.index));
  return found;
}

void SessionStore::select(MessageId id) {
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  const Message message = read_message(*connection_, id);
  set_leaf(*connection_, message.session, newest_leaf(*connection_, id));
  transaction.commit();
}

MessageId SessionStore::insert_note(const SessionId& id, std::optional<MessageId> parent,
                                    const NewNote& note) {
  Message message;
  message.session = id;
  message.parent = parent;
  message.role = Role::Note;
  message.created_at = clock_();
  message.text = note.text;
  message.summary = note.summary;
  const MessageId made = insert_message(*connection_, message);
  set_leaf(*connection_, id, made);
  touch_session(*connection_, id, message.created_at);
  return made;
}

std::optional<MessageId> SessionStore::add_note(const SessionId& id, const NewNote& note) {
  check_text(note.text, "note");
  check_text(note.summary, "summary");
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  read_session(*connection_, id);
  if (is_running(id)) {
    return std::nullopt;
  }
  const MessageId made = insert_note(id, leaf_of(*connection_, id), note);
  transaction.commit();
  return made;
}

}  // namespace smol::store
