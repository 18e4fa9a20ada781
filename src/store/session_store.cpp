#include "store/session_store.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "store/checks.h"
#include "store/connection.h"
#include "store/rows.h"
#include "store/schema.h"
#include "store/title.h"
#include "store/tree.h"

namespace smol::store {

SessionStore::SessionStore(const std::filesystem::path& folder, Clock clock)
    : folder_(folder),
      connection_(std::make_unique<Connection>(folder_.private_file("sessions.db"))),
      clock_(std::move(clock)) {
  prepare_schema(*connection_);
  connection_->define_holds();
  mark_interrupted();
}

SessionStore::~SessionStore() = default;

Time SessionStore::system_time() {
  return std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now());
}

Session SessionStore::session(const SessionId& id) const {
  const Lock lock(mutex_);
  return read_session(*connection_, id);
}

std::optional<Session> SessionStore::newest_session() const {
  const Lock lock(mutex_);
  SessionId id;
  {
    Rows row = connection_->query(
        "SELECT id FROM sessions WHERE deletion_id IS NULL ORDER BY updated_at DESC LIMIT 1");
    if (!row.next()) {
      return std::nullopt;
    }
    id = row.text(0);
  }
  return read_session(*connection_, id);
}

std::vector<SessionSummary> SessionStore::sessions(bool archived) const {
  const Lock lock(mutex_);
  Rows row = connection_->query(
      "SELECT s.id, s.title, s.updated_at, s.pinned, s.archived, t.id IS NOT NULL"
      " FROM sessions s LEFT JOIN turns t ON t.session_id = s.id"
      " WHERE s.deletion_id IS NULL AND s.archived = ?1"
      " ORDER BY s.pinned DESC, s.updated_at DESC",
      archived);
  std::vector<SessionSummary> summaries;
  while (row.next()) {
    summaries.push_back(
        {row.text(0), row.text(1), time_of(row.integer(2)), row.flag(3), row.flag(4), row.flag(5)});
  }
  return summaries;
}

std::vector<SessionId> SessionStore::session_ids() const {
  const Lock lock(mutex_);
  Rows row = connection_->query(
      "SELECT id FROM sessions WHERE deletion_id IS NULL ORDER BY updated_at DESC");
  std::vector<SessionId> ids;
  while (row.next()) {
    ids.push_back(row.text(0));
  }
  return ids;
}

Counts SessionStore::counts() const {
  const Lock lock(mutex_);
  Rows row = connection_->query(
      "SELECT count(*), count(*) FILTER (WHERE archived) FROM sessions WHERE deletion_id IS NULL");
  row.next();
  return {static_cast<std::size_t>(row.integer(0)), static_cast<std::size_t>(row.integer(1))};
}

Settings SessionStore::change_settings(const SessionId& id,
                                       const std::function<void(Settings&)>& change) {
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  Session session = read_session(*connection_, id);
  change(session.settings);
  check_text(session.settings.system, "system prompt");
  update_session(*connection_, session);
  transaction.commit();
  return session.settings;
}

Settings SessionStore::next_settings() const {
  const Lock lock(mutex_);
  return read_next_settings(*connection_);
}

Settings SessionStore::change_next_settings(const std::function<void(Settings&)>& change) {
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  Settings settings = read_next_settings(*connection_);
  change(settings);
  check_text(settings.system, "system prompt");
  write_next_settings(*connection_, settings);
  transaction.commit();
  return settings;
}

void SessionStore::rename(const SessionId& id, std::string_view title) {
  check_text(title, "title");
  const std::string line = title_line(title);
  if (line.empty()) {
    throw Error(ErrorCode::BadInput, "title: expected some text, found none");
  }
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  Session session = read_session(*connection_, id);
  session.title = line;
  session.title_origin = TitleOrigin::Person;
  update_session(*connection_, session);
  transaction.commit();
}

bool SessionStore::set_automatic_title(const SessionId& id, std::string_view title) {
  check_text(title, "title");
  const std::string line = title_line(title);
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  Session session = read_session(*connection_, id);
  if (session.title_origin == TitleOrigin::Person || line.empty()) {
    return false;
  }
  session.title = line;
  session.title_origin = TitleOrigin::Model;
  update_session(*connection_, session);
  transaction.commit();
  return true;
}

void SessionStore::pin(const SessionId& id, bool pinned) {
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  Session session = read_session(*connection_, id);
  session.pinned = pinned;
  update_session(*connection_, session);
  transaction.commit();
}

void SessionStore::archive(const SessionId& id, bool archived) {
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  Session session = read_session(*connection_, id);
  session.archived = archived;
  update_session(*connection_, session);
  transaction.commit();
}

std::optional<UserInput> SessionStore::queued(const SessionId& id) const {
  const Lock lock(mutex_);
  read_session(*connection_, id);
  return read_queued(*connection_, id);
}

void SessionStore::add_queued(const SessionId& id, const UserInput& input) {
  check_input(input);
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  read_session(*connection_, id);
  UserInput queued = input;
  if (auto before = read_queued(*connection_, id)) {
    const bool is_joint = !before->text.empty() && !input.text.empty();
    queued.text = before->text + (is_joint ? "\n\n" : "") + input.text;
    queued.attachments = std::move(before->attachments);
    queued.attachments.insert(queued.attachments.end(), input.attachments.begin(),
                              input.attachments.end());
  }
  write_queued(*connection_, id, queued);
  transaction.commit();
}

std::optional<UserInput> SessionStore::take_queued(const SessionId& id) {
  const Lock lock(mutex_);
  Transaction transaction(*connection_);
  read_session(*connection_, id);
  auto queued = read_queued(*connection_, id);
  write_queued(*connection_, id, std::nullopt);
  transaction.commit();
  return queued;
}

}  // namespace smol::store
