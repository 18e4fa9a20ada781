// A value of a foreign JSON document that knows its path: reading a field of the wrong type throws
// Error{BadInput} "messages[3].text: expected a string, found number".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_fwd.h"
#include "store/import.h"

namespace smol::store {

// One document within the limits; its number of values is added to `values`, which counts those of
// the whole import. Throws Error{BadInput} with `what`.
Json parse_bounded(std::string_view text, std::string_view what, const ImportLimits& limits,
                   std::size_t& values);

// A view; the document must outlive it.
class Field {
 public:
  // `path` is "" for a document, whose fields are then named without a prefix.
  Field(const Json& value, std::string path) : value_(&value), path_(std::move(path)) {}

  const Json& json() const noexcept { return *value_; }

  const std::string& path() const noexcept { return path_; }

  bool is_object() const noexcept;
  bool is_list() const noexcept;
  bool is_text() const noexcept;

  // The member, if the object has it and it is not null.
  std::optional<Field> find(const char* key) const;
  // Throws if it has not.
  Field at(const char* key) const;

  // Calls `visit` with each element of a list, or each member of an object and its key.
  void each(const std::function<void(const Field&)>& visit) const;
  void each_member(const std::function<void(const std::string&, const Field&)>& visit) const;

  std::string text() const;
  bool flag() const;
  double real(double least, double most) const;
  std::int64_t whole() const;                  // 0 to 2^53
  std::size_t index(std::size_t count) const;  // below `count`

  // The same of a member, with a value for one that is absent.
  std::string text(const char* key, std::string_view absent = "") const;
  bool flag(const char* key, bool absent) const;
  std::int64_t whole(const char* key, std::int64_t absent = 0) const;
  // A figure of a foreign program, rounded: 0 where it is no number from 0 to 10^12.
  std::int64_t figure(const char* key) const;

  [[noreturn]] void refuse(std::string_view expected) const;
  [[noreturn]] void refuse(std::string_view expected, std::string_view found) const;

 private:
  std::string path_of(std::string_view key) const;

  const Json* value_;
  std::string path_;
};

// Refuses a file beyond the number of messages.
class MessageCount {
 public:
  explicit MessageCount(const ImportLimits& limits) : most_(limits.messages) {}

  void add(const Field& message);

 private:
  std::size_t most_;
  std::size_t count_ = 0;
};

}  // namespace smol::store
