// Byte-level BPE of one piece: lowest rank first, leftmost on ties. The tables must outlive it; any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "text/merge_table.h"
#include "text/vocabulary.h"

namespace smol::text {

// Working memory of one thread, kept between pieces.
struct BpeScratch {
  // A token of a long piece, in a linked list.
  struct Symbol {
    TokenId id;
    std::int32_t previous, next;  // index, -1: none
    std::uint32_t rank;  // of the merge with the next one; kNoMerge also once taken by another
  };

  std::vector<TokenId> ids;
  std::vector<std::uint32_t> ranks;
  std::vector<Symbol> symbols;
  std::vector<std::uint64_t> heap;  // rank, then index: the order of merging
};

// Appends the ids of `piece` to `out`. A byte without a token is dropped before merging, as Hugging
// Face's tokenizers does without an unknown token. O(n log n). Throws Error{Exhausted} for a piece
// of 2^31 tokens or more.
void append_merged(const Vocabulary& vocabulary, const MergeTable& merges, std::string_view piece,
                   BpeScratch& scratch, std::vector<TokenId>& out);

}  // namespace smol::text
