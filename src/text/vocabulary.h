// Tokens by id and by bytes. Immutable once built: any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"

namespace smol::text {

inline constexpr TokenId kNoToken = -1;
inline constexpr TokenId kMaxTokenId = (1 << 22) - 1;
inline constexpr std::size_t kMaxTokenBytes = 1 << 16;

// Fixed-size key of a byte string: the bytes themselves up to 15, otherwise a hash (compare the
// text too).
struct BytesKey {
  static constexpr std::size_t kInline = 15;

  static BytesKey of(std::string_view bytes) noexcept;
  // The same key; bytes.data() must have 16 readable bytes. Requires: bytes.size() <= kInline.
  static BytesKey of_readable16(std::string_view bytes) noexcept;

  bool is_inline() const noexcept { return (high >> 56U) <= kInline; }

  std::size_t slot(std::size_t mask) const noexcept {
    const std::uint64_t mixed = (low ^ (high * 0x9E3779B97F4A7C15ULL)) * 0xD6E8FEB86659FD93ULL;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32U)) & mask;
  }

  bool operator==(const BytesKey&) const noexcept = default;

  std::uint64_t low, high;  // high's top byte: the length, or 0xFF for a hash
};

class Vocabulary {
 public:
  // `n_tokens`: how many the file lists. It may leave gaps between ids, but not so many that the
  // tables outgrow it: ids reach to 16 n_tokens + 4,096 at most.
  explicit Vocabulary(std::size_t n_tokens = 0);

  // `spelled` is in GPT-2's characters for bytes; an entry with other characters stands for its own
  // UTF-8 and no text reaches it by merging. Throws Error{BadInput} for an id or a length out of
  // range and an id used twice.
  void add(TokenId id, std::string_view spelled);
  // Ends the building. Throws Error{BadInput} for a token that occurs twice.
  void index();
  // An added token beside the model's vocabulary: has an id and bytes, but is not found by them.
  void add_unindexed(TokenId id, std::string_view spelled);
  // From now on `find_whole` finds it.
  void mark_whole(TokenId id);

  std::size_t size() const noexcept { return entries_.size(); }  // largest id + 1

  bool has(TokenId id) const noexcept;
  // Empty for an unknown id.
  std::string_view bytes_of(TokenId id) const noexcept;
  // kNoToken: none.
  TokenId find(std::string_view bytes) const noexcept;
  // Only tokens that a piece of exactly these bytes always becomes. `readable16`: 16 bytes from
  // bytes.data() on may be read.
  TokenId find_whole(std::string_view bytes, bool readable16) const noexcept;

  // kNoToken: no token for this byte alone.
  TokenId byte_token(unsigned char byte) const noexcept { return byte_tokens_[byte]; }

  // By its spelling, for an entry that is not spelled in GPT-2's characters.
  TokenId find_unspellable(std::string_view text) const noexcept;

 private:
  struct Entry {
    std::size_t begin = 0;
    std::uint32_t length = 0;
    bool present = false;
    bool spellable = false;
    bool indexed = false;
  };

  struct Slot {
    BytesKey key;
    TokenId id = kNoToken;
    bool whole = false;
  };

  Entry& place(TokenId id);
  Entry& put(TokenId id, std::string_view spelled);
  const Slot* lookup(const BytesKey& key, std::string_view bytes) const noexcept;

  TokenId max_id_;
  std::string bytes_;
  std::vector<Entry> entries_;  // by id
  std::vector<Slot> slots_;     // open addressing, at most half full
  std::array<TokenId, 256> byte_tokens_{};
  std::unordered_map<std::string, TokenId> unspellable_;
  std::size_t longest_ = 0;
};

}  // namespace smol::text
