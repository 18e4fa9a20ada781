#include "chat/tag.h"

namespace smol::chat {

std::optional<Tag> tag_of(std::string_view text) noexcept {
  for (std::size_t i = 0; i < kTagCount; ++i) {
    if (kTagTexts[i] == text) {
      return static_cast<Tag>(i);
    }
  }
  return std::nullopt;
}

TagTokens::TagTokens(const text::Tokenizer& tokenizer) {
  for (std::size_t i = 0; i < kTagCount; ++i) {
    const auto id = tokenizer.find(kTagTexts[i]);
    if (id && tokenizer.is_added(*id)) {
      ids_[i] = id;
    }
  }
}

std::optional<Tag> TagTokens::tag_of(TokenId id) const noexcept {
  for (std::size_t i = 0; i < kTagCount; ++i) {
    if (ids_[i] == id) {
      return static_cast<Tag>(i);
    }
  }
  return std::nullopt;
}

TagSet TagTokens::set() const noexcept {
  TagSet out;
  for (std::size_t i = 0; i < kTagCount; ++i) {
    out[i] = ids_[i].has_value();
  }
  return out;
}

}  // namespace smol::chat
