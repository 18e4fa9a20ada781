#include "text/bpe.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/error.h"

namespace smol::text {
namespace {

using Symbol = BpeScratch::Symbol;

// Up to here a scan over all ranks for each merge is faster than a heap.
constexpr std::size_t kMaxScanned = 48;
constexpr std::int32_t kNone = -1;

// Both arrays stay dense: a merge closes the gap behind it.
void merge_by_scan(const MergeTable& merges, BpeScratch& scratch, std::vector<TokenId>& out) {
  auto& ids = scratch.ids;
  auto& ranks = scratch.ranks;  // of the merge of ids[i] with ids[i + 1]; the last has none
  std::size_t count = ids.size();
  ranks.resize(count);
  for (std::size_t i = 0; i + 1 < count; ++i) {
    ranks[i] = merges.find(ids[i], ids[i + 1]).rank;
  }
  ranks[count - 1] = kNoMerge;
  while (count > 1) {
    const auto lowest =
        std::min_element(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(count) - 1);
    if (*lowest == kNoMerge) {
      break;
    }
    const auto at = static_cast<std::size_t>(lowest - ranks.begin());
    ids[at] = merges.find(ids[at], ids[at + 1]).result;
    --count;
    std::copy(ids.begin() + static_cast<std::ptrdiff_t>(at) + 2,
              ids.begin() + static_cast<std::ptrdiff_t>(count) + 1,
              ids.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    std::copy(lowest + 2, ranks.begin() + static_cast<std::ptrdiff_t>(count) + 1, lowest + 1);
    ranks[at] = at + 1 < count ? merges.find(ids[at], ids[at + 1]).rank : kNoMerge;
    if (at > 0) {
      ranks[at - 1] = merges.find(ids[at - 1], ids[at]).rank;
    }
  }
  out.insert(out.end(), ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count));
}

class HeapMerger {
 public:
  HeapMerger(const MergeTable& merges, BpeScratch& scratch)
      : merges_(merges), symbols_(scratch.symbols), heap_(scratch.heap) {
    link(scratch.ids);
  }

  void run() {
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const std::uint64_t top = heap_.back();
      heap_.pop_back();
      const auto at = static_cast<std::int32_t>(top & UINT32_MAX);
      // A rank belongs to one pair only: an entry with another rank than the symbol's is out of
      // date.
      if (symbol(at).rank == top >> 32U) {
        apply(at);
      }
    }
  }

  void append_to(std::vector<TokenId>& out) const {
    for (std::int32_t at = 0; at != kNone; at = symbols_[static_cast<std::size_t>(at)].next) {
      out.push_back(symbols_[static_cast<std::size_t>(at)].id);
    }
  }

 private:
  Symbol& symbol(std::int32_t at) { return symbols_[static_cast<std::size_t>(at)]; }

  void link(const std::vector<TokenId>& ids) {
    symbols_.clear();
    heap_.clear();
    const auto count = static_cast<std::int32_t>(ids.size());
    for (std::int32_t i = 0; i < count; ++i) {
      symbols_.push_back(
          {ids[static_cast<std::size_t>(i)], i - 1, i + 1 < count ? i + 1 : kNone, kNoMerge});
    }
    for (std::int32_t i = 0; i < count; ++i) {
      rank(i);
    }
  }

  // Looks up the merge of the symbol with the next one; true when there is one, and then it is on
  // the heap's array.
  bool rank(std::int32_t at) {
    Symbol& left = symbol(at);
    left.rank = left.next == kNone ? kNoMerge : merges_.find(left.id, symbol(left.next).id).rank;
    if (left.rank == kNoMerge) {
      return false;
    }
    heap_.push_back(static_cast<std::uint64_t>(left.rank) << 32U | static_cast<std::uint32_t>(at));
    return true;
  }

  void push(std::int32_t at) {
    if (rank(at)) {
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
  }

  void apply(std::int32_t at) {
    Symbol& left = symbol(at);
    Symbol& right = symbol(left.next);
    left.id = merges_.find(left.id, right.id).result;
    left.next = right.next;
    right.rank = kNoMerge;
    if (left.next != kNone) {
      symbol(left.next).previous = at;
    }
    push(at);
    if (left.previous != kNone) {
      push(left.previous);
    }
  }

  const MergeTable& merges_;
  std::vector<Symbol>& symbols_;
  std::vector<std::uint64_t>& heap_;
};

}  // namespace

void append_merged(const Vocabulary& vocabulary, const MergeTable& merges, std::string_view piece,
                   BpeScratch& scratch, std::vector<TokenId>& out) {
  scratch.ids.clear();
  for (const char c : piece) {
    const TokenId id = vocabulary.byte_token(static_cast<unsigned char>(c));
    if (id != kNoToken) {
      scratch.ids.push_back(id);
    }
  }
  if (scratch.ids.empty()) {
    return;
  }
  if (scratch.ids.size() <= kMaxScanned) {
    merge_by_scan(merges, scratch, out);
    return;
  }
  if (scratch.ids.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw Error(ErrorCode::Exhausted, "text to encode: a single piece of 2 GiB or more");
  }
  HeapMerger merger(merges, scratch);
  merger.run();
  merger.append_to(out);
}

}  // namespace smol::text
