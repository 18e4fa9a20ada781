// The members of a JSON object, read into types: what is there must have the right type and range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"

namespace smol::server {

template <class T>
struct Range {
  T least, most;  // both allowed
};

// How messages show a value: its type, and itself where it is short.
std::string found_text(const Json& value);

// "messages" and "role" -> "messages.role"; "" is the body itself.
std::string joined_path(std::string_view path, std::string_view name);
std::string joined_path(std::string_view path, std::size_t index);

// Throws Error{BadInput}: "PATH: expected EXPECTED, found FOUND".
[[noreturn]] void refuse(std::string_view path, std::string_view expected, const Json& found);

// A view. An absent member and null are the same. All throw Error{BadInput} with the member's path.
class Fields {
 public:
  // Throws unless `value` is an object. `path` is "" for the body.
  Fields(const Json& value, std::string path);

  std::string path_of(std::string_view name) const { return joined_path(path_, name); }

  const Json* find(std::string_view name) const;
  std::optional<bool> boolean(std::string_view name) const;
  std::optional<double> number(std::string_view name, Range<double> range) const;
  // A whole number; 3.0 is one.
  std::optional<std::uint64_t> count(std::string_view name, Range<std::uint64_t> range) const;
  std::optional<std::int64_t> integer(std::string_view name) const;
  std::optional<std::string> text(
      std::string_view name,
      std::size_t most_bytes = std::numeric_limits<std::size_t>::max()) const;
  // One of `choices`: its index.
  std::optional<std::size_t> choice(std::string_view name,
                                    const std::vector<std::string_view>& choices) const;
  // An object or a list.
  const Json* object(std::string_view name) const;
  const Json* list(std::string_view name, std::size_t most) const;
  // Throws Error{BadInput} that the member is missing.
  [[noreturn]] void miss(std::string_view name, std::string_view expected) const;

 private:
  const Json& value_;
  std::string path_;
};

// The value as a whole number in the range, if it is one.
std::optional<std::uint64_t> whole_number(const Json& value, Range<std::uint64_t> range);

}  // namespace smol::server
