// The forward pass once more, in double and in the most obvious way: what the decoder must agree
// with.
#pragma once

#include <span>
#include <vector>

#include "base/ids.h"
#include "gguf/file.h"
#include "model/config.h"

namespace smol::model {

// Logits [n_ids, vocab_size] of one sequence from position 0. Matrices are dequantized whole.
std::vector<double> plain_forward(const gguf::File& file, const ModelConfig& config,
                                  std::span<const TokenId> ids);

}  // namespace smol::model
