#include "grammar/vocabulary.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "grammar/masks.h"

namespace smol::grammar {
namespace {

constexpr std::size_t kMaxPoolBytes = std::size_t{1} << 24U;

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  static_cast<void>(other);
  return static_cast<std::size_t>(end - a.begin());
}

}  // namespace

Vocabulary::Vocabulary(const TokenTable& table) : end_tokens_(table.end_tokens) {
  std::size_t n_bytes = 0;
  for (std::size_t id = 0; id < table.bytes.size(); ++id) {
    n_bytes += table.bytes[id].size();
    if (table.bytes[id].size() > kMaxTokenBytes || n_bytes > kMaxPoolBytes) {
      throw Error(ErrorCode::BadInput, "token " + std::to_string(id) + " has " +
                                           std::to_string(table.bytes[id].size()) +
                                           " bytes: too long for a grammar's vocabulary");
    }
  }
  for (const TokenId id : end_tokens_) {
    if (id < 0 || static_cast<std::size_t>(id) >= table.bytes.size()) {
      throw Error(ErrorCode::BadInput, "end token " + std::to_string(id) +
                                           ": expected an id below " +
                                           std::to_string(table.bytes.size()));
    }
  }
  pool_.reserve(n_bytes);
  for (std::size_t id = 0; id < table.bytes.size(); ++id) {
    const std::string_view bytes =
        ends(static_cast<TokenId>(id)) ? std::string_view() : table.bytes[id];
    const std::size_t begin = pool_.size();
    pool_.insert(pool_.end(), bytes.begin(), bytes.end());
    bytes_.emplace_back(pool_.data() + begin, bytes.size());
    if (std::ranges::count(bytes, '"') > 1) {
      quoting_.push_back(static_cast<TokenId>(id));
    }
  }
  build_trie();
  shared_ = std::make_unique<const SharedMasks>(*this);
}

Vocabulary::~Vocabulary() = default;

void Vocabulary::build_trie() {
  std::vector<TokenId> order(bytes_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto text = [&](TokenId id) { return bytes_[static_cast<std::size_t>(id)]; };
  std::erase_if(order, [&](TokenId id) { return text(id).empty(); });
  std::stable_sort(order.begin(), order.end(),
                   [&](TokenId a, TokenId b) { return text(a) < text(b); });
  nodes_.push_back({0, -1, 0, 0});
  std::vector<std::uint32_t> open{0};  // the nodes of the last token's bytes
  const auto close_to = [&](std::size_t depth) {
    for (; open.size() > depth + 1; open.pop_back()) {
      nodes_[open.back()].end = static_cast<std::uint32_t>(nodes_.size());
    }
  };
  std::string_view last;
  for (const TokenId id : order) {
    const std::string_view bytes = text(id);
    std::size_t depth = common_prefix(last, bytes);
    close_to(depth);
    for (; depth < bytes.size(); ++depth) {
      const auto index = static_cast<std::uint32_t>(nodes_.size());
      const auto byte = static_cast<std::uint8_t>(bytes[depth]);
      if (depth == 0) {
        first_level_[byte] = index;
      }
      open.push_back(index);
      nodes_.push_back({0, -1, static_cast<std::uint16_t>(depth + 1), byte});
    }
    TrieNode& node = nodes_[open.back()];
    if (node.token >= 0) {
      twins_.emplace_back(node.token, id);
    } else {
      node.token = id;
    }
    last = bytes;
  }
  close_to(0);
  nodes_[0].end = static_cast<std::uint32_t>(nodes_.size());
}

std::string_view Vocabulary::bytes_of(TokenId token) const noexcept {
  return token >= 0 && static_cast<std::size_t>(token) < bytes_.size()
             ? bytes_[static_cast<std::size_t>(token)]
             : std::string_view();
}

bool Vocabulary::ends(TokenId token) const noexcept {
  return std::find(end_tokens_.begin(), end_tokens_.end(), token) != end_tokens_.end();
}

std::vector<TokenId> Vocabulary::longest_tokens(std::string_view text) const {
  std::vector<TokenId> tokens;
  while (!text.empty()) {
    TokenId longest = -1;
    std::size_t length = 0;
    std::uint32_t node = first_level(static_cast<std::uint8_t>(text[0]));
    for (std::size_t depth = 1; node != 0; ++depth) {
      if (nodes_[node].token >= 0) {
        longest = nodes_[node].token;
        length = depth;
      }
      node = depth < text.size() ? child(node, static_cast<std::uint8_t>(text[depth])) : 0;
    }
    if (longest < 0) {
      break;
    }
    tokens.push_back(longest);
    text.remove_prefix(length);
  }
  return tokens;
}

std::uint32_t Vocabulary::node_of(std::string_view bytes) const noexcept {
  std::uint32_t node = first_level(static_cast<std::uint8_t>(bytes[0]));
  for (std::size_t depth = 1; node != 0 && depth < bytes.size(); ++depth) {
    node = child(node, static_cast<std::uint8_t>(bytes[depth]));
  }
  return node;
}

std::uint32_t Vocabulary::child(std::uint32_t node, std::uint8_t byte) const noexcept {
  for (std::uint32_t i = node + 1; i < nodes_[node].end; i = nodes_[i].end) {
    if (nodes_[i].byte == byte) {
      return i;
    }
  }
  return 0;
}

}  // namespace smol::grammar
