// SessionStore: whole sessions out and in.
#include <string_view>
#include <unordered_map>

#include "base/check.h"
#include "store/connection.h"
#include "store/rows.h"
#include "store/session_id.h"
#include "store/session_store.h"
#include "store/tree.h"

namespace smol::store {

namespace {

// As a restart would leave it.
void interrupt(Answer& answer) {
  answer.state = AnswerState::Interrupted;
  for (Part& part : answer.parts) {
    auto* tool = std::get_if<ToolPart>(&part);
    if (tool != nullptr && is_open(tool->state)) {
      tool->state = ToolState::Failed;
    }
  }
}

}  // namespace

Transcript SessionStore::transcript(const SessionId& id) const {
  const Lock lock(mutex_);
  const Transaction snapshot(*connection_);
  Transcript transcript;
  transcript.session = read_session(*connection_, id);
  std::vector<MessageId> ids;
  {
    Rows row = connection_->query(
        "SELECT id FROM messages WHERE session_id = ?1 AND deletion_id IS NULL ORDER BY id",
        std::string_view(id));
    while (row.next()) {
      ids.push_back(row.integer(0));
    }
  }
  std::unordered_map<MessageId, std::size_t> places;
  for (const MessageId message : ids) {
    Transcript::Entry entry{read_message(*connection_, message), std::nullopt};
    if (entry.message.parent) {
      entry.parent = places.at(*entry.message.parent);
    }
    if (entry.message.answer.state == AnswerState::Running) {
      interrupt(entry.message.answer);
    }
    places.emplace(message, transcript.entries.size());
    transcript.entries.push_back(std::move(entry));
  }
  if (const auto leaf = leaf_of(*connection_, id)) {
    transcript.leaf = places.at(*leaf);
  }
  return transcript;
}

std::vector<SessionId> SessionStore::insert(const std::vector<Transcript>& transcripts) {
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  std::vector<SessionId> made;
  made.reserve(transcripts.size());
  for (const Transcript& transcript : transcripts) {
    Session session = transcript.session;
    session.id = new_session_id();
    insert_session(*connection_, session);
    std::vector<MessageId> ids;
    ids.reserve(transcript.entries.size());
    for (const Transcript::Entry& entry : transcript.entries) {
      Message message = entry.message;
      SMOL_CHECK(!entry.parent || *entry.parent < ids.size());
      SMOL_CHECK(message.answer.state != AnswerState::Running || message.role != Role::Assistant);
      message.session = session.id;
      message.parent = entry.parent ? std::optional(ids[*entry.parent]) : std::nullopt;
      ids.push_back(insert_message(*connection_, message));
    }
    if (transcript.leaf) {
      set_leaf(*connection_, session.id, ids.at(*transcript.leaf));
    }
    made.push_back(session.id);
  }
  transaction.commit();
  return made;
}

}  // namespace smol::store
