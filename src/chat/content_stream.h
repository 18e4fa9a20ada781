// The text of an answer as it streams: white space waits until it is known what follows it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/output_parser.h"

namespace smol::chat {

// Puts deltas behind each other; of one kind in a row, they become one.
class EventList {
 public:
  void text(std::string_view text);
  void thinking(std::string_view text);

  void add(OutputEvent event) { events_.push_back(std::move(event)); }

  std::vector<OutputEvent> take() { return std::exchange(events_, {}); }

 private:
  std::vector<OutputEvent> events_;
};

// Thoughts: stripped at both ends.
class ThinkingStream {
 public:
  void append(std::string_view text, EventList& out);

 private:
  std::string space_;  // since the last other character
  bool any_ = false;
};

// Content: as written while there are no blocks; beside a block stripped, joined with one newline.
class ContentStream {
 public:
  void append(std::string_view text, EventList& out);
  // A block that is no text stands here.
  void block();

  // Drops white space that has not been followed by anything.
  void drop_space() { space_.clear(); }

  void finish(EventList& out);

 private:
  std::string space_;  // since the last other character
  bool any_ = false;
  bool after_block_ = false;  // and no text since
  bool has_block_ = false;
};

}  // namespace smol::chat
