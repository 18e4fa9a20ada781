#include "chat/tagged_buffer.h"

#include <algorithm>

#include "chat/space.h"

namespace smol::chat {

void TaggedBuffer::append_tag(Tag tag) {
  if (token_tags_[static_cast<std::size_t>(tag)]) {
    marks_.push_back({end(), tag});
  }
  bytes_ += text_of(tag);
}

std::size_t TaggedBuffer::find(char c, std::size_t from) const noexcept {
  const std::size_t found = bytes_.find(c, from - begin_);
  return found == std::string::npos ? end() : begin_ + found;
}

std::size_t TaggedBuffer::skip_space(std::size_t from) const noexcept {
  while (from < end() && is_space(at(from))) {
    ++from;
  }
  return from;
}

TaggedBuffer::Found TaggedBuffer::tag_at(std::size_t position, TagSet wanted) const noexcept {
  const auto mark = std::lower_bound(
      marks_.begin(), marks_.end(), position,
      [](const Mark& one, std::size_t wanted_position) { return one.position < wanted_position; });
  if (mark != marks_.end() && mark->position == position) {
    return {wanted[static_cast<std::size_t>(mark->tag)] ? std::optional(mark->tag) : std::nullopt};
  }
  const std::string_view rest = view(position, end());
  Found found;
  for (std::size_t i = 0; i < kTagCount; ++i) {
    if (!wanted[i] || token_tags_[i]) {
      continue;
    }
    const std::string_view text = kTagTexts[i];
    if (rest.substr(0, text.size()) == text) {
      return {static_cast<Tag>(i)};
    }
    found.undecided = found.undecided || (!closed_ && text.substr(0, rest.size()) == rest);
  }
  return found;
}

void TaggedBuffer::discard_before(std::size_t position) {
  constexpr std::size_t kWorthMoving = 4096;
  const std::size_t size = position - begin_;
  // Rarely, so that moving the rest costs no more than reading it did.
  if (size < kWorthMoving || size * 2 < bytes_.size()) {
    return;
  }
  bytes_.erase(0, size);
  begin_ = position;
  while (!marks_.empty() && marks_.front().position < position) {
    marks_.pop_front();
  }
}

}  // namespace smol::chat
