// Recognizes a tokenizer.json's "pre_tokenizer" as one that this program has a matcher for.
#pragma once

#include "base/json_fwd.h"
#include "text/pretokenizer.h"

namespace smol::text {

// Throws Error{Unsupported} quoting the steps it does not know, Error{BadInput} for a wrong type.
PreTokenizer recognize_pre_tokenizer(const Json& pre_tokenizer);

}  // namespace smol::text
