// The tokens of a model as bytes, in a prefix tree: what a grammar's masks are made over.
// Immutable: any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace smol::grammar {

class SharedMasks;

// What a caller knows of its tokenizer.
struct TokenTable {
  // [vocab_size] The bytes that a token adds to the answer. Empty: the token is never allowed
  // (special tokens, tags, unused ids). A token may begin or end inside a UTF-8 sequence.
  std::vector<std::string_view> bytes;
  std::vector<TokenId> end_tokens;  // allowed exactly where the grammar may end
};

// A node of the prefix tree in preorder: its first child, if any, follows it.
struct TrieNode {
  std::uint32_t end;  // index behind the node's last descendant
  TokenId token;      // the token that ends here, or -1
  std::uint16_t depth;
  std::uint8_t byte;
};

class Vocabulary {
 public:
  static constexpr std::size_t kMaxTokenBytes = 1024;

  // Takes some 100 ms for 128,256 tokens. Throws Error{BadInput} for an end token outside of the
  // table, a token longer than kMaxTokenBytes, and more than 2^24 bytes of tokens.
  explicit Vocabulary(const TokenTable& table);
  ~Vocabulary();
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;
  Vocabulary(Vocabulary&&) = delete;
  Vocabulary& operator=(Vocabulary&&) = delete;

  std::size_t size() const noexcept { return bytes_.size(); }

  // 64-bit words of a mask: bit t of word t / 64.
  std::size_t mask_words() const noexcept { return (bytes_.size() + 63) / 64; }

  // Empty for ids that are never allowed or outside of the table.
  std::string_view bytes_of(TokenId token) const noexcept;
  bool ends(TokenId token) const noexcept;

  std::span<const TokenId> end_tokens() const noexcept { return end_tokens_; }

  // Node 0 is the root, of depth 0.
  std::span<const TrieNode> trie() const noexcept { return nodes_; }

  // The root's child for `byte`; 0 without one.
  std::uint32_t first_level(std::uint8_t byte) const noexcept { return first_level_[byte]; }

  // Tokens with more than one quote: all that may hold a whole JSON string.
  std::span<const TokenId> quoting_tokens() const noexcept { return quoting_; }

  // Pairs (token in the trie, another token of the same bytes).
  std::span<const std::pair<TokenId, TokenId>> twins() const noexcept { return twins_; }

  // The child of a node for `byte`; 0 without one.
  std::uint32_t child(std::uint32_t node, std::uint8_t byte) const noexcept;
  // The node of `bytes`, at least one; 0 where no token begins with them.
  std::uint32_t node_of(std::string_view bytes) const noexcept;

  // `text` cut into the longest tokens from left to right; stops where no token fits.
  std::vector<TokenId> longest_tokens(std::string_view text) const;

  // Masks of the states that all grammars share.
  const SharedMasks& shared_masks() const noexcept { return *shared_; }

 private:
  void build_trie();

  std::vector<std::string_view> bytes_;  // into pool_
  std::vector<char> pool_;
  std::vector<TokenId> end_tokens_;
  std::vector<TrieNode> nodes_;
  std::array<std::uint32_t, 256> first_level_{};
  std::vector<TokenId> quoting_;
  std::vector<std::pair<TokenId, TokenId>> twins_;
  std::unique_ptr<const SharedMasks> shared_;
};

}  // namespace smol::grammar
