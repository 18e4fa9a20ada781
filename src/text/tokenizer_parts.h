// What the two loaders build and the encoder works with. Immutable once loaded: any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/merge_table.h"
#include "text/pretokenizer.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace smol::text {

struct TokenizerParts {
  PreTokenizer pre_tokenizer = PreTokenizer::Llama3;
  bool ignore_merges = false;  // a piece that is a token is not merged from its bytes
  Vocabulary vocabulary;
  MergeTable merges;
  AddedTokenSet added;
  std::optional<TokenId> bos, eos, pad;
};

struct Tokenizer::Impl {
  explicit Impl(TokenizerParts loaded) : parts(std::move(loaded)) {}

  TokenizerParts parts;
};

// The last step of loading: lets find_whole answer for each of `candidates` (with `ignore_merges`),
// or for each that its own bytes merge into (without).
void mark_whole_pieces(TokenizerParts& parts, const std::vector<TokenId>& candidates);

// Appends the ids of `text`, cut by `split`, and returns the end of what was encoded: the text's
// end, or with `open` the begin of the piece that more text could change.
std::size_t append_split(const TokenizerParts& parts, std::string_view text,
                         const AddedTokenSet::Split& split, bool open, std::vector<TokenId>& out);

}  // namespace smol::text
