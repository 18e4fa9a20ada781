// Text that came in and is not yet decided on, with the places of its tags. Positions count from
// the start of the answer.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "chat/tag.h"

namespace smol::chat {

class TaggedBuffer {
 public:
  // Tags of `token_tags` stand only where append_tag() put them; the others wherever their text
  // stands.
  explicit TaggedBuffer(TagSet token_tags) : token_tags_(token_tags) {}

  void append(std::string_view text) { bytes_ += text; }

  void append_tag(Tag tag);

  // No more will be appended.
  void close() noexcept { closed_ = true; }

  bool closed() const noexcept { return closed_; }

  std::size_t begin() const noexcept { return begin_; }

  std::size_t end() const noexcept { return begin_ + bytes_.size(); }

  char at(std::size_t position) const noexcept { return bytes_[position - begin_]; }

  std::string_view view(std::size_t from, std::size_t to) const noexcept {
    return std::string_view(bytes_).substr(from - begin_, to - from);
  }

  // The first `c` at or after `from`, or end().
  std::size_t find(char c, std::size_t from) const noexcept;
  std::size_t skip_space(std::size_t from) const noexcept;

  struct Found {
    std::optional<Tag> tag;  // the tag at the position
    bool undecided = false;  // the text ends inside what may be one of the tags asked for
  };

  Found tag_at(std::size_t position, TagSet wanted) const noexcept;

  // Forgets what stands before `position`.
  void discard_before(std::size_t position);

 private:
  struct Mark {
    std::size_t position;
    Tag tag;
  };

  TagSet token_tags_;
  bool closed_ = false;
  std::size_t begin_ = 0;
  std::string bytes_;
  std::deque<Mark> marks_;  // ascending
};

}  // namespace smol::chat
