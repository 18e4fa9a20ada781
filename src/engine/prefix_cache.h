// Which blocks of the KV cache hold which tokens: a tree of blocks, each the child of the one
// before it, found by its 64 token ids. Blocks are immutable; whoever's prompt begins with the same
// tokens shares them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "model/decoder.h"

namespace smol::engine {

using BlockTokens = std::array<TokenId, model::kBlockTokens>;

// One thread. The decoder must outlive it.
class PrefixCache {
 public:
  struct Node {
    Node* parent = nullptr;  // nullptr: the root, which has no block
    BlockTokens tokens{};
    model::BlockId block = 0;
    std::size_t n_users = 0;  // sequences at work whose path goes through it
    std::uint64_t last_used = 0;
    std::set<std::string> owners;  // of the requests that went through it; "": nobody's
    std::map<BlockTokens, std::unique_ptr<Node>> children;
  };

  explicit PrefixCache(model::Decoder& decoder) : decoder_(decoder) {}

  ~PrefixCache();
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;
  PrefixCache(PrefixCache&&) = delete;
  PrefixCache& operator=(PrefixCache&&) = delete;

  Node& root() noexcept { return root_; }

  const Node& root() const noexcept { return root_; }

  // Nodes of the longest path that `tokens` begins with.
  std::vector<const Node*> find(std::span<const TokenId> tokens) const;

  // Keeps a full block as child of `node`, or finds the one that is there already. The cache takes
  // a reference of its own.
  Node& insert(Node& node, std::span<const TokenId> tokens, model::BlockId block);

  // The same behind the path of all but the last block of `tokens`, which count as used at `now`.
  // nullptr where that path is not kept.
  Node* insert_path(std::span<const TokenId> tokens, model::BlockId block, std::uint64_t now);

  // What only this owner's requests went through goes, unless it is in use.
  void forget(const std::string& owner);

  // All nodes but the root, each behind its parent.
  std::vector<const Node*> all() const;

  // One user more on the node alone; one less on it and all above it, marked as used at `now`.
  void use(Node& node) noexcept;
  void leave(Node& node, std::uint64_t now) noexcept;

  // The least recently used leaf without users; nullptr: none.
  Node* oldest() noexcept;
  // A leaf without users goes.
  void evict(Node& leaf) noexcept;

  std::size_t n_blocks() const noexcept { return n_blocks_; }

  std::size_t n_unused() const noexcept { return n_unused_; }

 private:
  model::Decoder& decoder_;
  Node root_;
  std::size_t n_blocks_ = 0;
  std::size_t n_unused_ = 0;  // of these, without users
};

}  // namespace smol::engine
