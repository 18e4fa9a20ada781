#include "chat/written.h"

#include <algorithm>
#include <utility>

namespace smol::chat {

std::vector<OutputEvent> WrittenAnswer::take(const Piece& piece) {
  const auto tag = piece.is_tag ? tag_of(piece.text) : std::nullopt;
  if (tag && token_tags_[static_cast<std::size_t>(*tag)]) {
    token_places_.push_back({raw_.size(), *tag});
  }
  raw_ += piece.text;
  return add(tag ? parser_.feed_tag(*tag) : parser_.feed(piece.text));
}

std::vector<OutputEvent> WrittenAnswer::finish() {
  return add(parser_.finish());
}

std::vector<OutputEvent> WrittenAnswer::add(std::vector<OutputEvent> events) {
  for (const OutputEvent& event : events) {
    parsed_.add(event);
  }
  return events;
}

void WrittenAnswer::store_in(Message& message) const {
  message.role = Role::Assistant;
  message.content = parsed_.content;
  message.reasoning = parsed_.reasoning;
  message.tool_calls = parsed_.tool_calls;
  message.code_blocks = parsed_.code_blocks;
  message.written = answer_pieces();
}

std::vector<Piece> WrittenAnswer::answer_pieces() const {
  std::vector<OutputParser::TagPlace> places = token_places_;
  const auto& meant = parser_.tag_places();
  places.insert(places.end(), meant.begin(), meant.end());
  std::ranges::sort(places, {}, &OutputParser::TagPlace::position);

  std::vector<Piece> out;
  std::size_t at = parser_.answer_begin().value_or(raw_.size());
  const auto text_up_to = [&](std::size_t end) {
    if (end > at) {
      out.push_back({raw_.substr(at, end - at), false});
    }
  };
  for (const auto& place : places) {
    if (place.position < at) {
      continue;  // among the thoughts, or a tag token that had a meaning and is listed twice
    }
    text_up_to(place.position);
    out.push_back({std::string(text_of(place.tag)), true});
    at = place.position + text_of(place.tag).size();
  }
  text_up_to(raw_.size());
  return out;
}

}  // namespace smol::chat
