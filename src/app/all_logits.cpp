#include "app/all_logits.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"

namespace smol::app {

void check_vocabulary(std::span<const TokenId> ids, std::size_t vocab_size) {
  for (const TokenId id : ids) {
    if (id < 0 || static_cast<std::size_t>(id) >= vocab_size) {
      throw Error{ErrorCode::BadInput, fmt::format("token ids: expected ids from 0 to {}, found {}",
                                                   vocab_size - 1, id)};
    }
  }
}

void check_fits(std::string_view what, std::size_t n_tokens, const model::Decoder& decoder) {
  const std::size_t context = decoder.options().context;
  if (n_tokens == 0 || n_tokens > context) {
    throw Error{ErrorCode::BadInput,
                fmt::format("{}: expected 1 to {} tokens (the context), found {}", what, context,
                            n_tokens)};
  }
}

void for_each_logits(model::Decoder& decoder, std::span<const TokenId> ids,
                     const LogitsSink& sink) {
  const std::size_t batch_size = std::min(kAllLogitsBatch, decoder.options().max_batch);
  const std::size_t vocab_size = decoder.config().vocab_size;
  decoder.truncate(0, 0);
  std::vector<model::BatchToken> batch;
  for (std::size_t begin = 0; begin < ids.size(); begin += batch_size) {
    const std::size_t end = std::min(begin + batch_size, ids.size());
    batch.clear();
    for (std::size_t i = begin; i < end; ++i) {
      batch.push_back({.token = ids[i],
                       .position = static_cast<std::uint32_t>(i),
                       .slot = 0,
                       .wants_logits = true});
    }
    const std::span<const float> logits = decoder.forward(batch);
    for (std::size_t i = begin; i < end; ++i) {
      sink(i, logits.subspan((i - begin) * vocab_size, vocab_size));
    }
  }
}

}  // namespace smol::app
