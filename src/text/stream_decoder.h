// Token ids -> text as it may be shown: whole UTF-8 characters, never half of one.
#pragma once

#include <span>
#include <string>

#include "base/ids.h"
#include "text/tokenizer.h"

namespace smol::text {

// One stream; one thread. The tokenizer must outlive it.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special = false)
      : tokenizer_(tokenizer), skip_special_(skip_special) {}

  // Text that this token completes: an incomplete but so far valid tail is held; U+FFFD comes as
  // soon as a sequence is known to be broken.
  std::string push(TokenId id);
  std::string push(std::span<const TokenId> ids);
  // What is still held, as U+FFFD per maximal invalid subpart.
  std::string flush();

 private:
  const Tokenizer& tokenizer_;
  bool skip_special_;
  std::string held_;
};

}  // namespace smol::text
