// One SQLite connection: statements are prepared once, values bound by position, rows read by
// column. Nothing outside this room knows of SQLite.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

struct sqlite3;
struct sqlite3_stmt;

namespace smol::store {

class Connection;

// A running statement. Ends, so that its SQL can run again, when destroyed.
class Rows {
 public:
  Rows(const Connection& connection, sqlite3_stmt* statement) noexcept
      : connection_(&connection), statement_(statement) {}

  ~Rows();
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  Rows(Rows&& other) noexcept;
  Rows& operator=(Rows&&) = delete;

  // Steps to the next row; false: there is none. Throws as Connection does.
  bool next();

  // The columns of the row, from 0.
  bool is_null(int column) const noexcept;
  std::int64_t integer(int column) const noexcept;

  bool flag(int column) const noexcept { return integer(column) != 0; }

  std::string text(int column) const;
  std::optional<std::int64_t> maybe_integer(int column) const noexcept;
  std::optional<double> maybe_real(int column) const noexcept;

 private:
  friend class Connection;
  void bind(int index, std::int64_t value);
  void bind(int index, double value);
  void bind(int index, std::string_view value);  // must outlive the rows
  void bind(int index, std::nullopt_t value);

  template <std::integral Value>
  void bind(int index, Value value) {
    bind(index, static_cast<std::int64_t>(value));
  }

  template <class Value>
  void bind(int index, const std::optional<Value>& value) {
    if (value) {
      bind(index, *value);
    } else {
      bind(index, std::nullopt);
    }
  }

  const Connection* connection_;
  sqlite3_stmt* statement_;
};

// One thread at a time. Its functions throw Error{Io} where the file cannot be read or written
// (full disk, damage), Error{Exhausted} without memory, Error{BadInput} for a value beyond SQLite's
// limits; the message names the file.
class Connection {
 public:
  // Opens the file, which must be there.
  explicit Connection(const std::filesystem::path& file);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  Connection(Connection&&) = delete;
  Connection& operator=(Connection&&) = delete;

  // Binds ?1, ?2 ... in order. Texts must outlive the rows.
  template <class... Values>
  Rows query(std::string_view sql, const Values&... values) {
    Rows rows(*this, prepared(sql));
    [[maybe_unused]] int index = 0;
    (rows.bind(++index, values), ...);
    return rows;
  }

  // Runs a statement to its end.
  template <class... Values>
  void execute(std::string_view sql, const Values&... values) {
    Rows rows = query(sql, values...);
    while (rows.next()) {
    }
  }

  // Several statements without values.
  void script(const std::string& sql);

  std::int64_t last_insert_id() const noexcept;
  // Rows that the last INSERT, UPDATE or DELETE touched.
  std::int64_t changes() const noexcept;
  bool in_transaction() const noexcept;
  // Makes the SQL function holds(text, word): whether `word`, which is folded, stands in the text.
  void define_holds();

  const std::filesystem::path& file() const noexcept { return file_; }

  [[noreturn]] void fail() const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const noexcept;
  };

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };

  sqlite3_stmt* prepared(std::string_view sql);

  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Close> handle_;
  std::unordered_map<std::string, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
};

// All or nothing: what was written is undone when destroyed before commit().
class Transaction {
 public:
  explicit Transaction(Connection& connection);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Transaction(Transaction&&) = delete;
  Transaction& operator=(Transaction&&) = delete;

  void commit();

 private:
  Connection& connection_;
};

}  // namespace smol::store
