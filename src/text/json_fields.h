// Typed access to the members of a JSON object from a file. All throw Error{BadInput} naming
// member, expected and found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace smol::text {

// A JSON object with the name that messages give it ("added_tokens[3]").
class JsonFields {
 public:
  // Throws unless `value` is an object. It must outlive this.
  JsonFields(const Json& value, std::string name);

  const std::string& name() const noexcept { return name_; }

  std::string name_of(std::string_view key) const { return name_ + "." + std::string(key); }

  // nullptr: absent or null.
  const Json* find(std::string_view key) const;
  bool boolean(std::string_view key, bool if_absent) const;
  std::optional<std::string> string(std::string_view key) const;
  std::string required_string(std::string_view key) const;
  std::uint64_t required_unsigned(std::string_view key) const;

  [[noreturn]] void fail(std::string_view key, const std::string& expected) const;

 private:
  const Json& value_;
  std::string name_;
};

}  // namespace smol::text
