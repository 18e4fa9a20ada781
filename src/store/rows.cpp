#include "store/rows.h"

#include <string>

#include "base/error.h"
#include "store/calendar.h"
#include "store/names.h"
#include "store/part_rows.h"

namespace smol::store {
namespace {

// What stands in a column was written by us: anything else is damage.
template <class Enum>
Enum enum_of(const Connection& db, std::string_view name) {
  const auto value = named<Enum>(name);
  if (!value) {
    throw Error(ErrorCode::Io, db.file().string() + ": expected one of " +
                                   std::string(names_of<Enum>()) + ", found \"" +
                                   std::string(name) + "\"");
  }
  return *value;
}

std::chrono::year_month_day date_of(const Connection& db, std::string_view text) {
  const auto date = parse_date(text);
  if (!date) {
    throw Error(ErrorCode::Io,
                db.file().string() + ": expected a date, found \"" + std::string(text) + "\"");
  }
  return *date;
}

Settings settings_of(const Rows& row, int first) {
  Settings settings;
  settings.think = row.flag(first);
  settings.system = row.text(first + 1);
  settings.temperature = row.maybe_real(first + 2);
  settings.top_p = row.maybe_real(first + 3);
  settings.min_p = row.maybe_real(first + 4);
  settings.repetition_penalty = row.maybe_real(first + 5);
  settings.top_k = row.maybe_integer(first + 6);
  settings.seed = row.maybe_integer(first + 7);
  settings.max_tokens = row.maybe_integer(first + 8);
  settings.thinking_budget = row.maybe_integer(first + 9);
  settings.tools = row.flag(first + 10);
  return settings;
}

}  // namespace

std::int64_t to_number(Time time) noexcept {
  return time.time_since_epoch().count();
}

Time time_of(std::int64_t ms) noexcept {
  return Time(Milliseconds(ms));
}

Settings read_next_settings(Connection& db) {
  Rows row = db.query(
      "SELECT think, system, temperature, top_p, min_p, repetition_penalty, top_k, seed,"
      " max_tokens, thinking_budget, tools FROM next_settings");
  return row.next() ? settings_of(row, 0) : Settings{};
}

void write_next_settings(Connection& db, const Settings& settings) {
  db.execute(
      "INSERT OR REPLACE INTO next_settings (id, think, system, temperature, top_p, min_p,"
      " repetition_penalty, top_k, seed, max_tokens, thinking_budget, tools)"
      " VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
      settings.think, std::string_view(settings.system), settings.temperature, settings.top_p,
      settings.min_p, settings.repetition_penalty, settings.top_k, settings.seed,
      settings.max_tokens, settings.thinking_budget, settings.tools);
}

Session read_session(Connection& db, const SessionId& id) {
  Rows row = db.query(
      "SELECT title, title_origin, created_at, updated_at, date, pinned, archived, think, system,"
      " temperature, top_p, min_p, repetition_penalty, top_k, seed, max_tokens, thinking_budget,"
      " tools FROM sessions WHERE id = ?1 AND deletion_id IS NULL",
      std::string_view(id));
  if (!row.next()) {
    throw Error(ErrorCode::NotFound, "session: expected the id of a session, found \"" + id + "\"");
  }
  Session session;
  session.id = id;
  session.title = row.text(0);
  session.title_origin = enum_of<TitleOrigin>(db, row.text(1));
  session.created_at = time_of(row.integer(2));
  session.updated_at = time_of(row.integer(3));
  session.date = date_of(db, row.text(4));
  session.pinned = row.flag(5);
  session.archived = row.flag(6);
  session.settings = settings_of(row, 7);
  return session;
}

void insert_session(Connection& db, const Session& session) {
  const std::string date = date_text(session.date);
  const Settings& settings = session.settings;
  db.execute(
      "INSERT INTO sessions (id, title, title_origin, created_at, updated_at, date, pinned,"
      " archived, think, system, temperature, top_p, min_p, repetition_penalty, top_k, seed,"
      " max_tokens, thinking_budget, tools)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,"
      " ?19)",
      std::string_view(session.id), std::string_view(session.title), name_of(session.title_origin),
      to_number(session.created_at), to_number(session.updated_at), std::string_view(date),
      session.pinned, session.archived, settings.think, std::string_view(settings.system),
      settings.temperature, settings.top_p, settings.min_p, settings.repetition_penalty,
      settings.top_k, settings.seed, settings.max_tokens, settings.thinking_budget, settings.tools);
}

void update_session(Connection& db, const Session& session) {
  const Settings& settings = session.settings;
  db.execute(
      "UPDATE sessions SET title = ?2, title_origin = ?3, pinned = ?4, archived = ?5, think = ?6,"
      " system = ?7, temperature = ?8, top_p = ?9, min_p = ?10, repetition_penalty = ?11,"
      " top_k = ?12, seed = ?13, max_tokens = ?14, thinking_budget = ?15, tools = ?16"
      " WHERE id = ?1",
      std::string_view(session.id), std::string_view(session.title), name_of(session.title_origin),
      session.pinned, session.archived, settings.think, std::string_view(settings.system),
      settings.temperature, settings.top_p, settings.min_p, settings.repetition_penalty,
      settings.top_k, settings.seed, settings.max_tokens, settings.thinking_budget, settings.tools);
}

std::optional<UserInput> read_queued(Connection& db, const SessionId& id) {
  Rows row = db.query("SELECT queued FROM sessions WHERE id = ?1 AND queued IS NOT NULL",
                      std::string_view(id));
  return row.next() ? std::optional(unpacked_input(row.text(0))) : std::nullopt;
}

void write_queued(Connection& db, const SessionId& id, const std::optional<UserInput>& input) {
  const std::string text = input ? packed(*input) : "";
  db.execute("UPDATE sessions SET queued = ?2 WHERE id = ?1", std::string_view(id),
             input ? std::optional(std::string_view(text)) : std::nullopt);
}

void touch_session(Connection& db, const SessionId& id, Time now) {
  db.execute("UPDATE sessions SET updated_at = ?2 WHERE id = ?1", std::string_view(id),
             to_number(now));
}

Message read_message(Connection& db, MessageId id) {
  Message message;
  {
    Rows row = db.query(
        "SELECT m.session_id, m.parent_id, m.role, m.created_at, m.think, m.state, m.turn_id,"
        " m.tokens, m.ms, m.prompt_tokens, m.cached_tokens, m.prompt_ms, m.token_limit, m.error,"
        " m.hint, m.written FROM messages m JOIN sessions s ON s.id = m.session_id"
        " WHERE m.id = ?1 AND m.deletion_id IS NULL AND s.deletion_id IS NULL",
        id);
    if (!row.next()) {
      throw Error(ErrorCode::NotFound,
                  "message: expected the id of a message, found " + std::to_string(id));
    }
    message.id = id;
    message.session = row.text(0);
    message.parent = row.maybe_integer(1);
    message.role = enum_of<Role>(db, row.text(2));
    message.created_at = time_of(row.integer(3));
    message.think = row.flag(4);
    message.answer.state = enum_of<AnswerState>(db, row.text(5));
    message.turn = row.integer(6);
    message.answer.figures = {row.integer(7), Milliseconds(row.integer(8)), row.integer(9),
                              row.integer(10), Milliseconds(row.integer(11))};
    message.answer.limit = row.integer(12);
    message.answer.error = {row.text(13), row.text(14)};
    message.answer.written = unpacked_written(row.text(15));
  }
  read_parts(db, message);
  return message;
}

MessageId insert_message(Connection& db, const Message& message) {
  db.execute(
      "INSERT INTO messages (session_id, parent_id, role, created_at, think)"
      " VALUES (?1, ?2, ?3, ?4, ?5)",
      std::string_view(message.session), message.parent, name_of(message.role),
      to_number(message.created_at), message.think);
  const MessageId id = db.last_insert_id();
  if (message.role == Role::Assistant) {
    write_answer(db, id, message.answer);
  } else {
    write_input_parts(db, id, message);
  }
  return id;
}

void write_answer(Connection& db, MessageId id, const Answer& answer) {
  const Figures& figures = answer.figures;
  const std::string written = packed(answer.written);
  db.execute(
      "UPDATE messages SET state = ?2, tokens = ?3, ms = ?4, prompt_tokens = ?5,"
      " cached_tokens = ?6, prompt_ms = ?7, token_limit = ?8, error = ?9, hint = ?10, written = ?11"
      " WHERE id = ?1",
      id, name_of(answer.state), figures.tokens, figures.time.count(), figures.prompt_tokens,
      figures.cached_tokens, figures.prompt_time.count(), answer.limit,
      std::string_view(answer.error.text), std::string_view(answer.error.hint),
      std::string_view(written));
  write_answer_parts(db, id, answer.parts, answer.state != AnswerState::Running);
}

void interrupt_answer(Connection& db, MessageId id) {
  db.execute("UPDATE messages SET state = 'interrupted' WHERE id = ?1", id);
  db.execute(
      "UPDATE parts SET state = 'failed' WHERE message_id = ?1 AND state IN ('asking', 'running')",
      id);
  db.execute(
      "UPDATE parts SET searchable = 1 WHERE message_id = ?1 AND kind = 'text' AND NOT searchable",
      id);
}

}  // namespace smol::store
