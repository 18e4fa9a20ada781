// The fields that chat and plain completions share, as types that cannot be wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "chat/assistant.h"
#include "server/fields.h"

namespace smol::server {

// What a request asks for beside its prompt.
struct AnswerWish {
  chat::AnswerOptions options;
  std::size_t n = 1;  // answers to each prompt
  bool stream = false;
  bool include_usage = false;  // in a stream: as a chunk of its own
  std::string user;            // "" if not given
};

inline constexpr std::size_t kMostAnswers = 16;
inline constexpr std::size_t kMostTopLogprobs = 20;

// Sampling, limits, stop strings, context and cache. The form, logprobs and the thinking budget are
// not among them. Throws Error{BadInput} with the field's path.
AnswerWish read_answer_wish(const Fields& fields, const chat::ModelFacts& model);

// Throws Error{NotFound} unless the request names this model, "smolbot", or none.
void check_model(const Fields& fields, const chat::ModelFacts& model);

// The seed of the answer with this index: the first one's is the request's own.
std::optional<std::uint64_t> seed_of(std::optional<std::uint64_t> seed, std::size_t index);

}  // namespace smol::server
