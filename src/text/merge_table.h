// BPE merges: (left, right) -> (rank, result). Immutable once built: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace smol::text {

struct Merge {
  std::uint32_t rank;  // lower is applied first; kNoMerge: the two tokens do not merge
  TokenId result;
};

inline constexpr std::uint32_t kNoMerge = UINT32_MAX;

class MergeTable {
 public:
  explicit MergeTable(std::size_t n_merges = 0);

  // Returns false, and changes nothing, when the pair has a merge already. Ids must not be
  // negative.
  bool add(TokenId left, TokenId right, Merge merge);

  Merge find(TokenId left, TokenId right) const noexcept {
    const std::uint64_t key = key_of(left, right);
    for (std::size_t at = slot_of(key);; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.key == key || slot.key == kEmpty) {
        return slot.merge;
      }
    }
  }

 private:
  static constexpr std::uint64_t kEmpty = UINT64_MAX;

  struct Slot {
    std::uint64_t key = kEmpty;
    Merge merge{kNoMerge, 0};
  };

  static std::uint64_t key_of(TokenId left, TokenId right) noexcept {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U |
           static_cast<std::uint32_t>(right);
  }

  std::size_t slot_of(std::uint64_t key) const noexcept {
    const std::uint64_t mixed = key * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32U)) & mask_;
  }

  std::vector<Slot> slots_;  // open addressing, at most 5/8 full
  std::size_t mask_;
};

}  // namespace smol::text
