// Prefix tree of the contents of added tokens.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace smol::text {

class ContentTrie {
 public:
  // `index`: what a hit reports. `content` must not be empty.
  void add(std::string_view content, std::uint32_t index);

  bool empty() const noexcept { return nodes_.size() == 1; }

  struct Hit {
    std::size_t begin, end;
    std::uint32_t index;
    bool undecided;  // the text ended where a longer content could go on: only `begin` counts
  };

  // Leftmost-longest in text[from, end). With `open`, more text may follow `end`.
  std::optional<Hit> find(std::string_view text, std::size_t from, std::size_t end,
                          bool open) const noexcept;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Node {
    unsigned char byte = 0;
    std::uint32_t first_child = kNone;
    std::uint32_t sibling = kNone;
    std::uint32_t index = kNone;  // of the content that ends here
  };

  std::uint32_t child(std::uint32_t node, unsigned char byte) const noexcept;
  std::size_t next_candidate(std::string_view text, std::size_t from,
                             std::size_t end) const noexcept;
  std::optional<Hit> match_at(std::string_view text, std::size_t begin, std::size_t end,
                              bool open) const noexcept;

  std::vector<Node> nodes_{Node{}};
  std::array<bool, 256> starts_{};
  std::optional<unsigned char> only_start_;  // when all contents begin with this byte
};

}  // namespace smol::text
