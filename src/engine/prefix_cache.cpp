#include "engine/prefix_cache.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace smol::engine {
namespace {

BlockTokens key_of(std::span<const TokenId> tokens) {
  SMOL_CHECK(tokens.size() == model::kBlockTokens);
  BlockTokens key{};
  std::ranges::copy(tokens, key.begin());
  return key;
}

template <class Node, class Visit>
void visit_below(Node& node, const Visit& visit) {
  for (const auto& [tokens, child] : node.children) {
    Node& below = *child;
    visit(below);
    visit_below(below, visit);
  }
}

}  // namespace

PrefixCache::~PrefixCache() {
  visit_below(root_, [&](Node& node) { decoder_.release(node.block); });
}

std::vector<const PrefixCache::Node*> PrefixCache::find(std::span<const TokenId> tokens) const {
  std::vector<const Node*> path;
  const Node* node = &root_;
  for (; tokens.size() >= model::kBlockTokens; tokens = tokens.subspan(model::kBlockTokens)) {
    const auto found = node->children.find(key_of(tokens.first(model::kBlockTokens)));
    if (found == node->children.end()) {
      break;
    }
    node = found->second.get();
    path.push_back(node);
  }
  return path;
}

PrefixCache::Node& PrefixCache::insert(Node& node, std::span<const TokenId> tokens,
                                       model::BlockId block) {
  const auto [place, is_new] = node.children.try_emplace(key_of(tokens));
  if (is_new) {
    place->second = std::make_unique<Node>();
    Node& added = *place->second;
    added.parent = &node;
    added.tokens = place->first;
    added.block = block;
    added.last_used = node.last_used;
    decoder_.retain(block);
    ++n_blocks_;
    ++n_unused_;
  }
  return *place->second;
}

PrefixCache::Node* PrefixCache::insert_path(std::span<const TokenId> tokens, model::BlockId block,
                                            std::uint64_t now) {
  Node* node = &root_;
  for (; tokens.size() > model::kBlockTokens; tokens = tokens.subspan(model::kBlockTokens)) {
    const auto found = node->children.find(key_of(tokens.first(model::kBlockTokens)));
    if (found == node->children.end()) {
      return nullptr;
    }
    node = found->second.get();
    node->last_used = now;
  }
  Node& kept = insert(*node, tokens, block);
  kept.last_used = now;
  return &kept;
}

// Whoever went through a node went through those above it, too: what lies below one that goes has
// gone before it.
void PrefixCache::forget(const std::string& owner) {
  std::vector<Node*> nodes;
  visit_below(root_, [&](Node& node) { nodes.push_back(&node); });
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    Node& one = **node;
    const bool was_its = one.n_users == 0 && one.owners.erase(owner) > 0;
    if (was_its && one.owners.empty() && one.children.empty()) {
      evict(one);
    }
  }
}

std::vector<const PrefixCache::Node*> PrefixCache::all() const {
  std::vector<const Node*> nodes;
  visit_below(root_, [&](const Node& node) { nodes.push_back(&node); });
  return nodes;
}

void PrefixCache::use(Node& node) noexcept {
  n_unused_ -= node.n_users == 0 ? 1U : 0U;
  ++node.n_users;
}

void PrefixCache::leave(Node& node, std::uint64_t now) noexcept {
  for (Node* at = &node; at->parent != nullptr; at = at->parent) {
    SMOL_CHECK(at->n_users > 0);
    --at->n_users;
    n_unused_ += at->n_users == 0 ? 1U : 0U;
    at->last_used = now;
  }
}

PrefixCache::Node* PrefixCache::oldest() noexcept {
  Node* oldest = nullptr;
  visit_below(root_, [&](Node& node) {
    if (node.children.empty() && node.n_users == 0 &&
        (oldest == nullptr || node.last_used < oldest->last_used)) {
      oldest = &node;
    }
  });
  return oldest;
}

void PrefixCache::evict(Node& leaf) noexcept {
  SMOL_CHECK(leaf.children.empty() && leaf.n_users == 0 && leaf.parent != nullptr);
  decoder_.release(leaf.block);
  --n_blocks_;
  --n_unused_;
  leaf.parent->children.erase(leaf.parent->children.find(BlockTokens(leaf.tokens)));
}

}  // namespace smol::engine
