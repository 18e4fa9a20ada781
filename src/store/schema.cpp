#include "store/schema.h"

#include <array>
#include <string>

#include "base/error.h"

namespace smol::store {
namespace {

constexpr std::int64_t kApplicationId = 0x736D6F6C;  // "smol"

// `deletion_id` is set while a deletion can be undone; `purged` is 1 when its rows are removed, 2
// when the file has been written anew without them. `turns` holds the running ones: those that
// are found when the file is opened were interrupted.
constexpr const char* kTables = R"sql(
CREATE TABLE deletions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  message_id INTEGER,
  leaf_id INTEGER,
  created_at INTEGER NOT NULL,
  purged INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  title_origin TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  date TEXT NOT NULL,
  pinned INTEGER NOT NULL DEFAULT 0,
  archived INTEGER NOT NULL DEFAULT 0,
  think INTEGER NOT NULL,
  system TEXT NOT NULL,
  temperature REAL,
  top_p REAL,
  min_p REAL,
  repetition_penalty REAL,
  top_k INTEGER,
  seed INTEGER,
  max_tokens INTEGER,
  thinking_budget INTEGER,
  queued TEXT,
  leaf_id INTEGER REFERENCES messages (id),
  deletion_id INTEGER REFERENCES deletions (id)
) STRICT;
CREATE INDEX sessions_updated ON sessions (updated_at);
CREATE INDEX sessions_leaf ON sessions (leaf_id);
CREATE INDEX sessions_deleted ON sessions (deletion_id) WHERE deletion_id IS NOT NULL;
CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  parent_id INTEGER REFERENCES messages (id),
  role TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  think INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'done',
  turn_id INTEGER NOT NULL DEFAULT 0,
  tokens INTEGER NOT NULL DEFAULT 0,
  ms INTEGER NOT NULL DEFAULT 0,
  prompt_tokens INTEGER NOT NULL DEFAULT 0,
  cached_tokens INTEGER NOT NULL DEFAULT 0,
  prompt_ms INTEGER NOT NULL DEFAULT 0,
  token_limit INTEGER NOT NULL DEFAULT 0,
  error TEXT NOT NULL DEFAULT '',
  hint TEXT NOT NULL DEFAULT '',
  written TEXT NOT NULL DEFAULT '',
  deletion_id INTEGER REFERENCES deletions (id)
) STRICT;
CREATE INDEX messages_session ON messages (session_id);
CREATE INDEX messages_parent ON messages (parent_id, session_id);
CREATE INDEX messages_deleted ON messages (deletion_id) WHERE deletion_id IS NOT NULL;
CREATE TABLE parts (
  id INTEGER PRIMARY KEY,
  message_id INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  tokens INTEGER NOT NULL DEFAULT 0,
  ms INTEGER,
  name TEXT NOT NULL DEFAULT '',
  call_id TEXT,
  arguments TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL DEFAULT '',
  searchable INTEGER NOT NULL DEFAULT 0,
  UNIQUE (message_id, position)
) STRICT;
CREATE INDEX parts_call ON parts (call_id) WHERE call_id IS NOT NULL;
CREATE TABLE turns (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL UNIQUE REFERENCES sessions (id) ON DELETE CASCADE,
  message_id INTEGER NOT NULL UNIQUE REFERENCES messages (id) ON DELETE CASCADE
) STRICT;

CREATE VIEW searchable_parts AS SELECT id, text FROM parts WHERE searchable;
CREATE VIRTUAL TABLE found_parts USING fts5 (
  text, content = 'searchable_parts', content_rowid = 'id', tokenize = 'trigram');
CREATE TRIGGER part_added AFTER INSERT ON parts WHEN new.searchable BEGIN
  INSERT INTO found_parts (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER part_removed AFTER DELETE ON parts WHEN old.searchable BEGIN
  INSERT INTO found_parts (found_parts, rowid, text) VALUES ('delete', old.id, old.text);
END;
CREATE TRIGGER part_hidden AFTER UPDATE OF text, searchable ON parts WHEN old.searchable BEGIN
  INSERT INTO found_parts (found_parts, rowid, text) VALUES ('delete', old.id, old.text);
END;
CREATE TRIGGER part_shown AFTER UPDATE OF text, searchable ON parts WHEN new.searchable BEGIN
  INSERT INTO found_parts (rowid, text) VALUES (new.id, new.text);
END;
)sql";

// The settings of the next new session: one row, or none.
constexpr const char* kNextSettings = R"sql(
CREATE TABLE next_settings (
  id INTEGER PRIMARY KEY,
  think INTEGER NOT NULL,
  system TEXT NOT NULL,
  temperature REAL,
  top_p REAL,
  min_p REAL,
  repetition_penalty REAL,
  top_k INTEGER,
  seed INTEGER,
  max_tokens INTEGER,
  thinking_budget INTEGER
) STRICT;
)sql";

constexpr const char* kToolsSwitch = R"sql(
ALTER TABLE sessions ADD COLUMN tools INTEGER NOT NULL DEFAULT 0;
ALTER TABLE next_settings ADD COLUMN tools INTEGER NOT NULL DEFAULT 0;
)sql";

// SQLite runs the triggers of one change in an order of its own, so the one that takes the old
// words out of the index is also the one that puts the new ones in. Files from before may lack
// words.
constexpr const char* kOrderedTriggers = R"sql(
DROP TRIGGER part_hidden;
DROP TRIGGER part_shown;
CREATE TRIGGER part_hidden AFTER UPDATE OF text, searchable ON parts WHEN old.searchable BEGIN
  INSERT INTO found_parts (found_parts, rowid, text) VALUES ('delete', old.id, old.text);
  INSERT INTO found_parts (rowid, text) SELECT new.id, new.text WHERE new.searchable;
END;
CREATE TRIGGER part_shown AFTER UPDATE OF text, searchable ON parts
WHEN new.searchable AND NOT old.searchable BEGIN
  INSERT INTO found_parts (rowid, text) VALUES (new.id, new.text);
END;
INSERT INTO found_parts (found_parts) VALUES ('rebuild');
)sql";

// Step i leads from version i to i + 1. A step that was released never changes.
constexpr std::array<const char*, 4> kSteps{kTables, kNextSettings, kToolsSwitch, kOrderedTriggers};

std::int64_t number(Connection& connection, std::string_view sql) {
  Rows rows = connection.query(sql);
  return rows.next() ? rows.integer(0) : 0;
}

void check_owner(Connection& connection) {
  const bool empty = number(connection, "SELECT count(*) FROM sqlite_schema") == 0;
  if (!empty && number(connection, "PRAGMA application_id") != kApplicationId) {
    throw Error(ErrorCode::BadInput, connection.file().string() +
                                         ": expected the sessions of a smolbot, found the database "
                                         "of another program");
  }
}

void migrate(Connection& connection) {
  const std::int64_t version = number(connection, "PRAGMA user_version");
  const auto newest = static_cast<std::int64_t>(kSteps.size());
  if (version > newest) {
    throw Error(ErrorCode::Unsupported,
                connection.file().string() + ": expected sessions of version " +
                    std::to_string(newest) + " or older, found version " + std::to_string(version) +
                    ", written by a newer smolbot");
  }
  for (std::int64_t step = version; step < newest; ++step) {
    Transaction transaction(connection);
    connection.script(kSteps.at(static_cast<std::size_t>(step)));
    connection.script("PRAGMA user_version = " + std::to_string(step + 1));
    connection.script("PRAGMA application_id = " + std::to_string(kApplicationId));
    transaction.commit();
  }
}

}  // namespace

void prepare_schema(Connection& connection) {
  check_owner(connection);
  connection.script(
      "PRAGMA auto_vacuum = NONE; PRAGMA journal_mode = WAL; PRAGMA "
      "synchronous = FULL;"
      "PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;"
      "PRAGMA recursive_triggers = OFF; PRAGMA cache_size = -8192;"
      "PRAGMA journal_size_limit = 8388608");
  migrate(connection);
}

}  // namespace smol::store
