// The logits after every token of a text.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "base/ids.h"
#include "model/decoder.h"

namespace smol::app {

// Batches of this size keep the logits of one step small: 64 x 128,256 floats are 33 MB.
inline constexpr std::size_t kAllLogitsBatch = 64;

// Throws Error{BadInput} for an id outside the vocabulary.
void check_vocabulary(std::span<const TokenId> ids, std::size_t vocab_size);
// Throws Error{BadInput}: "--window: expected 1 to 4096 tokens (the context), found 5000".
void check_fits(std::string_view what, std::size_t n_tokens, const model::Decoder& decoder);

// logits [vocab_size], valid during the call.
using LogitsSink = std::function<void(std::size_t position, std::span<const float> logits)>;

// Feeds proven ids into slot 0, emptied before, and calls the sink in order of positions.
void for_each_logits(model::Decoder& decoder, std::span<const TokenId> ids, const LogitsSink& sink);

}  // namespace smol::app
