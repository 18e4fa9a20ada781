#include "text/merge_table.h"

#include <bit>

namespace smol::text {

MergeTable::MergeTable(std::size_t n_merges)
    : slots_(std::bit_ceil(n_merges + n_merges / 5 * 3 + 16)), mask_(slots_.size() - 1) {}

bool MergeTable::add(TokenId left, TokenId right, Merge merge) {
  const std::uint64_t key = key_of(left, right);
  std::size_t at = slot_of(key);
  for (; slots_[at].key != kEmpty; at = (at + 1) & mask_) {
    if (slots_[at].key == key) {
      return false;
    }
  }
  slots_[at] = {key, merge};
  return true;
}

}  // namespace smol::text
