// Turns spelled merges into pairs of ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "text/merge_table.h"
#include "text/vocabulary.h"

namespace smol::text {

class MergeLoader {
 public:
  // `vocabulary` must be indexed. `n_merges`: how many will be added.
  MergeLoader(const Vocabulary& vocabulary, std::size_t n_merges);

  // The next merge, both halves in GPT-2's characters. Throws Error{BadInput} naming the merge's
  // number when a half or the result is no token, or the pair came before.
  void add(std::string_view left, std::string_view right);
  // "left right", one space.
  void add(std::string_view spelled);

  MergeTable take() { return std::move(table_); }

 private:
  TokenId token(std::string_view bytes, const char* role) const;

  const Vocabulary& vocabulary_;
  MergeTable table_;
  std::uint32_t rank_ = 0;
  std::string bytes_;  // of both halves
};

}  // namespace smol::text
