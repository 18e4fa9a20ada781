#include "chat/content_stream.h"

#include "chat/space.h"

namespace smol::chat {
namespace {

// Bytes of `text` without the white space at its end.
std::size_t size_without_space(std::string_view text) noexcept {
  std::size_t size = text.size();
  while (size > 0 && is_space(text[size - 1])) {
    --size;
  }
  return size;
}

}  // namespace

void EventList::text(std::string_view text) {
  if (text.empty()) {
    return;
  }
  if (!events_.empty()) {
    if (auto* last = std::get_if<TextDelta>(&events_.back())) {
      last->text += text;
      return;
    }
  }
  events_.emplace_back(TextDelta{std::string(text)});
}

void EventList::thinking(std::string_view text) {
  if (text.empty()) {
    return;
  }
  if (!events_.empty()) {
    if (auto* last = std::get_if<ThinkingDelta>(&events_.back())) {
      last->text += text;
      return;
    }
  }
  events_.emplace_back(ThinkingDelta{std::string(text)});
}

void ThinkingStream::append(std::string_view text, EventList& out) {
  if (!any_) {
    while (!text.empty() && is_space(text.front())) {
      text.remove_prefix(1);
    }
  }
  const std::size_t size = size_without_space(text);
  if (size > 0) {
    out.thinking(space_);
    out.thinking(text.substr(0, size));
    space_.clear();
    any_ = true;
  }
  space_ += text.substr(size);
}

void ContentStream::append(std::string_view text, EventList& out) {
  if (after_block_) {
    while (!text.empty() && is_space(text.front())) {
      text.remove_prefix(1);
    }
  }
  const std::size_t size = size_without_space(text);
  if (size > 0) {
    if (after_block_ && any_) {
      out.text("\n");
    }
    out.text(space_);
    out.text(text.substr(0, size));
    space_.clear();
    any_ = true;
    after_block_ = false;
  }
  space_ += text.substr(size);
}

void ContentStream::block() {
  space_.clear();
  after_block_ = true;
  has_block_ = true;
}

void ContentStream::finish(EventList& out) {
  if (!has_block_) {
    out.text(space_);
  }
  space_.clear();
}

}  // namespace smol::chat
