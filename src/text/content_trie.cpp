#include "text/content_trie.h"

namespace smol::text {

std::uint32_t ContentTrie::child(std::uint32_t node, unsigned char byte) const noexcept {
  std::uint32_t at = nodes_[node].first_child;
  while (at != kNone && nodes_[at].byte != byte) {
    at = nodes_[at].sibling;
  }
  return at;
}

void ContentTrie::add(std::string_view content, std::uint32_t index) {
  const auto first = static_cast<unsigned char>(content[0]);
  only_start_ = empty() || only_start_ == first ? std::optional(first) : std::nullopt;
  starts_[first] = true;
  std::uint32_t node = 0;
  for (const char c : content) {
    const auto byte = static_cast<unsigned char>(c);
    std::uint32_t next = child(node, byte);
    if (next == kNone) {
      next = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({byte, kNone, nodes_[node].first_child, kNone});
      nodes_[node].first_child = next;
    }
    node = next;
  }
  nodes_[node].index = index;
}

std::size_t ContentTrie::next_candidate(std::string_view text, std::size_t from,
                                        std::size_t end) const noexcept {
  if (only_start_) {
    const std::size_t at = text.substr(0, end).find(static_cast<char>(*only_start_), from);
    return at == std::string_view::npos ? end : at;
  }
  while (from < end && !starts_[static_cast<unsigned char>(text[from])]) {
    ++from;
  }
  return from;
}

std::optional<ContentTrie::Hit> ContentTrie::match_at(std::string_view text, std::size_t begin,
                                                      std::size_t end, bool open) const noexcept {
  std::optional<Hit> longest;
  std::uint32_t node = 0;
  for (std::size_t at = begin; at < end; ++at) {
    node = child(node, static_cast<unsigned char>(text[at]));
    if (node == kNone) {
      return longest;
    }
    if (nodes_[node].index != kNone) {
      longest = Hit{begin, at + 1, nodes_[node].index, false};
    }
  }
  if (open && nodes_[node].first_child != kNone) {
    return Hit{begin, end, 0, true};
  }
  return longest;
}

std::optional<ContentTrie::Hit> ContentTrie::find(std::string_view text, std::size_t from,
                                                  std::size_t end, bool open) const noexcept {
  if (empty()) {
    return std::nullopt;
  }
  for (std::size_t at = next_candidate(text, from, end); at < end;
       at = next_candidate(text, at + 1, end)) {
    if (const auto hit = match_at(text, at, end, open)) {
      return hit;
    }
  }
  return std::nullopt;
}

}  // namespace smol::text
