// Finds where a JSON object or list (or one in Python's syntax) ends, as its text comes in.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace smol::chat {

// One value. It fails at the first character that cannot stand outside strings, so that a text full
// of beginnings is still scanned in linear time: at most one scan is alive in each kind of string.
class ValueScanner {
 public:
  enum class Status { Running, Done, Failed };

  // Takes up `text` where the last call ended; `text` grows between calls.
  Status advance(std::string_view text, std::size_t& at);

 private:
  Status take(char c);

  std::string open_;  // closing brackets that are due
  char quote_ = 0;    // of the string it is in
  bool escaped_ = false;
  Status status_ = Status::Running;
};

}  // namespace smol::chat
