#include "store/connection.h"

#include <sqlite3.h>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "store/fold.h"

namespace smol::store {
namespace {

ErrorCode code_of(int result) {
  switch (result & 0xFF) {
    case SQLITE_NOMEM:
      return ErrorCode::Exhausted;
    case SQLITE_TOOBIG:
      return ErrorCode::BadInput;
    default:
      return ErrorCode::Io;
  }
}

std::string_view column_text(sqlite3_stmt* statement, int column) noexcept {
  // The order matters: asking for the text may change the length.
  const auto* text = static_cast<const char*>(sqlite3_column_blob(statement, column));
  const int size = sqlite3_column_bytes(statement, column);
  return text == nullptr ? std::string_view()
                         : std::string_view(text, static_cast<std::size_t>(size));
}

std::string_view value_text(sqlite3_value* value) noexcept {
  const auto* text = static_cast<const char*>(sqlite3_value_blob(value));
  const int size = sqlite3_value_bytes(value);
  return text == nullptr ? std::string_view()
                         : std::string_view(text, static_cast<std::size_t>(size));
}

void holds(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  const bool found = find_folded(value_text(values[0]), value_text(values[1])).has_value();
  sqlite3_result_int(context, found ? 1 : 0);
}

}  // namespace

Rows::Rows(Rows&& other) noexcept
    : connection_(other.connection_), statement_(std::exchange(other.statement_, nullptr)) {}

Rows::~Rows() {
  if (statement_ != nullptr) {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
}

bool Rows::next() {
  switch (sqlite3_step(statement_)) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      connection_->fail();
  }
}

bool Rows::is_null(int column) const noexcept {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Rows::integer(int column) const noexcept {
  return sqlite3_column_int64(statement_, column);
}

std::string Rows::text(int column) const {
  return std::string(column_text(statement_, column));
}

std::optional<std::int64_t> Rows::maybe_integer(int column) const noexcept {
  return is_null(column) ? std::nullopt : std::optional(integer(column));
}

std::optional<double> Rows::maybe_real(int column) const noexcept {
  return is_null(column) ? std::nullopt : std::optional(sqlite3_column_double(statement_, column));
}

void Rows::bind(int index, std::int64_t value) {
  SMOL_CHECK(sqlite3_bind_int64(statement_, index, value) == SQLITE_OK);
}

void Rows::bind(int index, double value) {
  SMOL_CHECK(sqlite3_bind_double(statement_, index, value) == SQLITE_OK);
}

void Rows::bind(int index, std::string_view value) {
  // An empty view may have no address, which SQLite would take for NULL.
  const char* text = value.data() == nullptr ? "" : value.data();
  if (sqlite3_bind_text64(statement_, index, text, value.size(), SQLITE_STATIC, SQLITE_UTF8) !=
      SQLITE_OK) {
    connection_->fail();
  }
}

void Rows::bind(int index, std::nullopt_t /*value*/) {
  SMOL_CHECK(sqlite3_bind_null(statement_, index) == SQLITE_OK);
}

void Connection::Close::operator()(sqlite3* handle) const noexcept {
  sqlite3_close(handle);
}

void Connection::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

Connection::Connection(const std::filesystem::path& file) : file_(file) {
  sqlite3* handle = nullptr;
  const int result =
      sqlite3_open_v2(file.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(handle);
  if (result != SQLITE_OK) {
    fail();
  }
}

Connection::~Connection() = default;

void Connection::fail() const {
  const int result = handle_ == nullptr ? SQLITE_NOMEM : sqlite3_extended_errcode(handle_.get());
  const std::string text = handle_ == nullptr ? "no memory" : sqlite3_errmsg(handle_.get());
  throw Error(code_of(result), file_.string() + ": " + text);
}

sqlite3_stmt* Connection::prepared(std::string_view sql) {
  auto& statement = statements_[std::string(sql)];
  if (statement == nullptr) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                           SQLITE_PREPARE_PERSISTENT, &made, nullptr) != SQLITE_OK) {
      fail();
    }
    statement.reset(made);
  }
  SMOL_CHECK(sqlite3_stmt_busy(statement.get()) == 0);
  return statement.get();
}

void Connection::script(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail();
  }
}

std::int64_t Connection::last_insert_id() const noexcept {
  return sqlite3_last_insert_rowid(handle_.get());
}

std::int64_t Connection::changes() const noexcept {
  return sqlite3_changes64(handle_.get());
}

bool Connection::in_transaction() const noexcept {
  return sqlite3_get_autocommit(handle_.get()) == 0;
}

void Connection::define_holds() {
  if (sqlite3_create_function_v2(handle_.get(), "holds", 2,
                                 SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nullptr,
                                 holds, nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail();
  }
}

Transaction::Transaction(Connection& connection) : connection_(connection) {
  connection_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  // SQLite has already undone it after some errors, such as a full disk.
  if (connection_.in_transaction()) {
    try {
      connection_.execute("ROLLBACK");
    } catch (const Error&) {
      // The file is as it was: without a commit record the next reader ignores what was written.
    }
  }
}

void Transaction::commit() {
  connection_.execute("COMMIT");
}

}  // namespace smol::store
