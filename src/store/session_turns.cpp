// SessionStore: turns, from the message that begins one to the answer's last word.
#include <string>
#include <utility>

#include "base/error.h"
#include "store/checks.h"
#include "store/connection.h"
#include "store/rows.h"
#include "store/session_id.h"
#include "store/session_store.h"
#include "store/title.h"
#include "store/tree.h"

namespace smol::store {
namespace {

[[noreturn]] void refuse(MessageId id, std::string_view expected, std::string_view found) {
  throw Error(ErrorCode::BadInput, "message " + std::to_string(id) + ": expected " +
                                       std::string(expected) + ", found " + std::string(found));
}

}  // namespace

void SessionStore::mark_interrupted() {
  Transaction transaction(*connection_);
  std::vector<MessageId> interrupted;
  {
    Rows row = connection_->query("SELECT message_id FROM turns");
    while (row.next()) {
      interrupted.push_back(row.integer(0));
    }
  }
  for (const MessageId id : interrupted) {
    interrupt_answer(*connection_, id);
  }
  connection_->execute("DELETE FROM turns");
  transaction.commit();
}

bool SessionStore::is_running(const SessionId& id) const {
  return connection_->query("SELECT 1 FROM turns WHERE session_id = ?1", std::string_view(id))
      .next();
}

std::optional<Turn> SessionStore::running_turn(const SessionId& id) const {
  const Lock lock(mutex_);
  read_session(*connection_, id);
  Rows row = connection_->query("SELECT id, message_id FROM turns WHERE session_id = ?1",
                                std::string_view(id));
  if (!row.next()) {
    return std::nullopt;
  }
  return Turn{row.integer(0), id, std::nullopt, row.integer(1)};
}

Turn SessionStore::start_turn(const SessionId& session, MessageId answer) {
  connection_->execute("INSERT INTO turns (session_id, message_id) VALUES (?1, ?2)",
                       std::string_view(session), answer);
  const TurnId turn = connection_->last_insert_id();
  connection_->execute("UPDATE messages SET state = 'running', turn_id = ?2 WHERE id = ?1", answer,
                       turn);
  set_leaf(*connection_, session, answer);
  touch_session(*connection_, session, clock_());
  return {turn, session, std::nullopt, answer};
}

Turn SessionStore::start_answer(const SessionId& session, std::optional<MessageId> parent,
                                bool think) {
  Message answer;
  answer.session = session;
  answer.parent = parent;
  answer.role = Role::Assistant;
  answer.created_at = clock_();
  answer.think = think;
  return start_turn(session, insert_message(*connection_, answer));
}

std::optional<Turn> SessionStore::begin_below(const SessionId& session,
                                              std::optional<MessageId> parent,
                                              const UserInput& input) {
  if (is_running(session)) {
    return std::nullopt;
  }
  Message question;
  question.session = session;
  question.parent = parent;
  question.role = Role::User;
  question.created_at = clock_();
  question.text = input.text;
  question.attachments = input.attachments;
  question.think = input.think;
  const MessageId id = insert_message(*connection_, question);
  Turn turn = start_answer(session, id, input.think);
  turn.question = id;
  return turn;
}

Turn SessionStore::begin_session(const NewSession& session, const UserInput& input) {
  check_input(input);
  check_text(session.settings.system, "system prompt");
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  Session made;
  made.id = new_session_id();
  made.title = first_title(input.text, input.attachments);
  made.created_at = made.updated_at = clock_();
  made.date = session.date;
  made.settings = session.settings;
  insert_session(*connection_, made);
  Turn turn = *begin_below(made.id, std::nullopt, input);
  transaction.commit();
  return turn;
}

std::optional<Turn> SessionStore::begin_turn(const SessionId& id, const UserInput& input) {
  check_input(input);
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  read_session(*connection_, id);
  auto turn = begin_below(id, leaf_of(*connection_, id), input);
  transaction.commit();
  return turn;
}

std::optional<Turn> SessionStore::begin_queued_turn(const SessionId& id) {
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  read_session(*connection_, id);
  const auto input = read_queued(*connection_, id);
  if (!input) {
    return std::nullopt;
  }
  auto turn = begin_below(id, leaf_of(*connection_, id), *input);
  if (turn) {
    write_queued(*connection_, id, std::nullopt);
    transaction.commit();
  }
  return turn;
}

std::optional<Turn> SessionStore::begin_edit(MessageId id, const UserInput& input) {
  check_input(input);
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  const Message message = read_message(*connection_, id);
  if (message.role != Role::User) {
    refuse(id, "a user's message to edit", "another");
  }
  auto turn = begin_below(message.session, message.parent, input);
  transaction.commit();
  return turn;
}

std::optional<Turn> SessionStore::begin_regeneration(MessageId id, bool think) {
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  const Message message = read_message(*connection_, id);
  if (message.role == Role::Note) {
    refuse(id, "an answer or a user's message to answer again", "a note");
  }
  if (is_running(message.session)) {
    return std::nullopt;
  }
  const auto parent = message.role == Role::Assistant ? message.parent : id;
  const Turn turn = start_answer(message.session, parent, think);
  transaction.commit();
  return turn;
}

std::optional<Turn> SessionStore::begin_continuation(MessageId id) {
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  const Message message = read_message(*connection_, id);
  if (message.role != Role::Assistant) {
    refuse(id, "an answer to continue", "another message");
  }
  if (is_running(message.session)) {
    return std::nullopt;
  }
  if (newest_leaf(*connection_, id) != id) {
    refuse(id, "the last message of a path to continue", "messages below it");
  }
  const Turn turn = start_turn(message.session, id);
  transaction.commit();
  return turn;
}

std::pair<SessionId, MessageId> SessionStore::write_saved(TurnId turn, const Answer& answer) {
  MessageId id = 0;
  SessionId session;
  {
    Rows row = connection_->query("SELECT message_id, session_id FROM turns WHERE id = ?1", turn);
    if (!row.next()) {
      throw Error(ErrorCode::NotFound,
                  "turn: expected the id of a running turn, found " + std::to_string(turn));
    }
    id = row.integer(0);
    session = row.text(1);
  }
  write_answer(*connection_, id, answer);
  if (answer.state != AnswerState::Running) {
    connection_->execute("DELETE FROM turns WHERE id = ?1", turn);
    touch_session(*connection_, session, clock_());
  }
  return {std::move(session), id};
}

void SessionStore::save(TurnId turn, const Answer& answer) {
  check_answer(answer);
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  write_saved(turn, answer);
  transaction.commit();
}

MessageId SessionStore::save_with_note(TurnId turn, const Answer& answer, const NewNote& note) {
  check_answer(answer);
  check_text(note.text, "note");
  check_text(note.summary, "summary");
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  const auto [session, id] = write_saved(turn, answer);
  const MessageId made = insert_note(session, id, note);
  transaction.commit();
  return made;
}

}  // namespace smol::store
