// The six tags that structure an answer. Where the vocabulary has them as added tokens, only those
// tokens count; the same characters spelled out are text.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/ids.h"
#include "text/tokenizer.h"

namespace smol::chat {

enum class Tag { ThinkOpen, ThinkClose, ToolCallOpen, ToolCallClose, CodeOpen, CodeClose };

inline constexpr std::size_t kTagCount = 6;
inline constexpr std::array<std::string_view, kTagCount> kTagTexts{
    "<think>", "</think>", "<tool_call>", "</tool_call>", "<code>", "</code>"};

constexpr std::string_view text_of(Tag tag) noexcept {
  return kTagTexts[static_cast<std::size_t>(tag)];
}

// The tag with exactly this text.
std::optional<Tag> tag_of(std::string_view text) noexcept;

using TagSet = std::bitset<kTagCount>;

// Which tags are tokens of a vocabulary. Immutable.
class TagTokens {
 public:
  explicit TagTokens(const text::Tokenizer& tokenizer);
  std::optional<Tag> tag_of(TokenId id) const noexcept;

  std::optional<TokenId> id_of(Tag tag) const noexcept {
    return ids_[static_cast<std::size_t>(tag)];
  }

  TagSet set() const noexcept;

 private:
  std::array<std::optional<TokenId>, kTagCount> ids_;
};

}  // namespace smol::chat
