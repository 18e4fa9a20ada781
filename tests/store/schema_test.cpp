#include "store/schema.h"

#include <gtest/gtest.h>

#include "store/data_folder.h"
#include "support/temp_folder.h"

namespace smol::store {
namespace {

std::string value_of(Connection& db, std::string_view pragma) {
  Rows row = db.query(pragma);
  return row.next() ? row.text(0) : "";
}

TEST(Schema, MakesWhatIsCommittedDurableAndWhatIsDeletedOverwritten) {
  const test::TempFolder folder;
  const DataFolder data(folder.path());
  Connection db(data.private_file("sessions.db"));
  prepare_schema(db);
  EXPECT_EQ(value_of(db, "PRAGMA journal_mode"), "wal");
  EXPECT_EQ(value_of(db, "PRAGMA synchronous"), "2");
  EXPECT_EQ(value_of(db, "PRAGMA foreign_keys"), "1");
  EXPECT_EQ(value_of(db, "PRAGMA secure_delete"), "1");
}

TEST(Schema, IsMadeOnce) {
  const test::TempFolder folder;
  const DataFolder data(folder.path());
  const auto file = data.private_file("sessions.db");
  for (int i = 0; i < 2; ++i) {
    Connection db(file);
    prepare_schema(db);
    EXPECT_EQ(value_of(db, "PRAGMA user_version"), "4");
    EXPECT_EQ(value_of(db, "PRAGMA integrity_check"), "ok");
  }
}

TEST(Schema, BringsAFileOfTheFirstVersionUpToDateWithWhatItHolds) {
  const test::TempFolder folder;
  const DataFolder data(folder.path());
  const auto file = data.private_file("sessions.db");
  {
    Connection db(file);
    prepare_schema(db);
    db.script(
        "INSERT INTO sessions (id, title, title_origin, created_at, updated_at, date, think,"
        " system) VALUES ('s', 'kept', 'person', 0, 0, '2026-11-28', 1, '');"
        "ALTER TABLE sessions DROP COLUMN tools; DROP TABLE next_settings;"
        "PRAGMA user_version = 1");
  }
  Connection db(file);
  prepare_schema(db);
  EXPECT_EQ(value_of(db, "PRAGMA user_version"), "4");
  EXPECT_EQ(value_of(db, "SELECT title FROM sessions"), "kept");
  EXPECT_EQ(value_of(db, "SELECT tools FROM sessions"), "0");
  EXPECT_EQ(value_of(db, "SELECT count(*) FROM next_settings"), "0");
}

// Up to version 3 an answer that went on could lose its first words in the index.
TEST(Schema, FindsAgainWhatAnOlderVersionLeftOutOfTheIndex) {
  const test::TempFolder folder;
  const DataFolder data(folder.path());
  const auto file = data.private_file("sessions.db");
  {
    Connection db(file);
    prepare_schema(db);
    db.script(
        "INSERT INTO sessions (id, title, title_origin, created_at, updated_at, date, think,"
        " system) VALUES ('s', 'kept', 'person', 0, 0, '2026-11-28', 1, '');"
        "INSERT INTO messages (id, session_id, role, created_at, think) VALUES (1, 's', 'user', 0,"
        " 1);"
        "INSERT INTO parts (message_id, position, kind, text, searchable) VALUES (1, 0, 'text',"
        " 'hello', 1);"
        "INSERT INTO found_parts (found_parts) VALUES ('delete-all'); PRAGMA user_version = 3");
  }
  Connection db(file);
  prepare_schema(db);
  EXPECT_EQ(value_of(db, "SELECT count(*) FROM found_parts WHERE text MATCH 'hello'"), "1");
}

TEST(Transaction, IsUndoneUnlessItIsCommitted) {
  const test::TempFolder folder;
  const DataFolder data(folder.path());
  Connection db(data.private_file("sessions.db"));
  db.script("CREATE TABLE t (x)");
  {
    const Transaction transaction(db);
    db.execute("INSERT INTO t VALUES (?1)", 1);
  }
  EXPECT_EQ(value_of(db, "SELECT count(*) FROM t"), "0");
  {
    Transaction transaction(db);
    db.execute("INSERT INTO t VALUES (?1)", 1);
    transaction.commit();
  }
  EXPECT_EQ(value_of(db, "SELECT count(*) FROM t"), "1");
}

}  // namespace
}  // namespace smol::store
