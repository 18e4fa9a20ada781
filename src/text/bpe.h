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
  // A token of the piece in a linked list (the heap's form).
  struct Symbol {
    TokenId id;
    std::int32_t previous, next;  // index, -1: none; next == kMerged: taken by the symbol before it
  };

  struct Candidate {
    std::uint32_t rank;
    std::int32_t at;
    TokenId left, right;
  };

  std::vector<TokenId> ids;
  std::vector<std::uint32_t> ranks;
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
};

// Appends the ids of `piece` to `out`. A byte without a token is dropped before merging, as Hugging
// Face's tokenizers does without an unknown token. O(n log n). Throws Error{Exhausted} for a piece
// of 2^31 tokens or more.
void append_merged(const Vocabulary& vocabulary, const MergeTable& merges, std::string_view piece,
                   BpeScratch& scratch, std::vector<TokenId>& out);

}  // namespace smol::text
