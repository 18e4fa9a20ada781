// Added tokens: found in the raw text before anything else, as Hugging Face's tokenizers does it.
// Immutable: any thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "text/content_trie.h"
#include "text/tokenizer.h"

namespace smol::text {

struct AddedToken {
  std::string content;
  TokenId id = 0;
  bool special = false;
  bool lstrip = false;       // swallows white space before it
  bool rstrip = false;       // and behind it
  bool single_word = false;  // only with a non-word character or the edge on both sides
  bool normalized = false;   // found in a second pass over what the first one left
};

class AddedTokenSet {
 public:
  // An empty content is never found. Throws Error{BadInput} for a content that occurs twice.
  explicit AddedTokenSet(std::vector<AddedToken> tokens = {});

  // Half-open ranges in which tokens may lie, in order, not touching.
  struct Range {
    std::size_t begin, end;
  };

  struct Segment {
    std::size_t begin, end;
    TokenId id;  // kNoToken: text
  };

  // What a text that comes in parts has to know of the part before.
  struct Progress {
    // Per pass: the search goes on here. A match that was passed over is not searched again.
    std::array<std::size_t, 2> search_from{};
    // Per pass: a word character stands before the text's begin and counts for single_word.
    std::array<bool, 2> word_before{};
  };

  struct Split {
    // In order; they cover [0, settled), but a token may begin in white space that the one before
    // swallowed.
    std::vector<Segment> segments;
    // First byte that is not settled: the text's size unless it is open. When the last segment is
    // text and ends here, its end is open.
    std::size_t settled = 0;
    std::size_t sentence =
        0;  // where the second pass's last sentence begins, see Progress::word_before
    Progress progress;
  };

  // Requires: valid UTF-8. `open`: more text may follow, and only what it cannot change is settled.
  Split split(std::string_view text, std::span<const Range> allowed, AddedTokens mode,
              const Progress& progress, bool open) const;

  const AddedToken* find(std::string_view content) const noexcept;
  const AddedToken* find(TokenId id) const noexcept;

  std::span<const AddedToken> all() const noexcept { return tokens_; }

 private:
  // The text that one search looks at. Its edges are edges for single_word.
  struct Sentence {
    std::string_view text;
    std::size_t begin, end;
    std::span<const Range> allowed;
    AddedTokens mode;
    bool open;
    std::size_t search_from;
    bool word_before;
  };

  struct Pass {
    ContentTrie trie;
    bool strips_left = false;
  };
  struct Found;
  enum class Fit { Taken, PassedOver, Undecided };

  static std::optional<ContentTrie::Hit> next_hit(const Pass& pass, const Sentence& sentence,
                                                  std::size_t from);
  Fit fit(const Sentence& sentence, const ContentTrie::Hit& hit, Segment& segment) const;
  Found search(const Pass& pass, const Sentence& sentence) const;

  std::vector<AddedToken> tokens_;
  std::array<Pass, 2> passes_;  // normalized: false, then true
  std::unordered_map<std::string, std::size_t> by_content_;
  std::unordered_map<TokenId, std::size_t> by_id_;
};

}  // namespace smol::text
