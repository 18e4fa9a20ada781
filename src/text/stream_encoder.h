// Text that arrives in parts -> the token ids of the whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "text/added_tokens.h"
#include "text/tokenizer.h"

namespace smol::text {

// One stream; one thread. The tokenizer must outlive it.
// For every way of cutting a text, the ids of all pushes and of flush() add up to
// Tokenizer::encode(text, mode).
class StreamEncoder {
 public:
  explicit StreamEncoder(const Tokenizer& tokenizer, AddedTokens mode = AddedTokens::All)
      : tokenizer_(tokenizer), mode_(mode) {}

  // The ids that no later text can change and that were not returned before: all up to the last
  // piece (or possible added token) that touches the end. `text` may be cut inside a character. A
  // single piece of over 4 KiB is looked at again only each time it has grown by an eighth, which
  // keeps the work linear; its ids come that much later.
  std::vector<TokenId> push(std::string_view text);
  // The rest. The stream is empty again then.
  std::vector<TokenId> flush();

 private:
  void receive(std::string_view text);
  void forget(std::size_t done, const AddedTokenSet::Split& split);

  const Tokenizer& tokenizer_;
  AddedTokens mode_;
  std::string incomplete_;  // the start of a character
  std::string held_;        // valid UTF-8 whose ids are not returned yet
  AddedTokenSet::Progress progress_;
  std::size_t next_look_ = 0;  // bytes of held_ from which a look is due
};

}  // namespace smol::text
