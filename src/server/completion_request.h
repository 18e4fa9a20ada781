// The body of POST /v1/completions, read once: prompts without a template.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/json_fwd.h"
#include "chat/assistant.h"
#include "server/answer_fields.h"
#include "server/fields.h"

namespace smol::server {

// A text, in which added tokens count, or token ids of the vocabulary.
using RawInput = std::variant<std::string, std::vector<TokenId>>;

struct CompletionRequest {
  std::vector<RawInput> prompts;  // at least one, none empty
  AnswerWish wish;
  bool echo = false;  // the answer begins with the prompt
};

// Throws Error with the field's path.
CompletionRequest read_completion_request(const Json& body, const chat::ModelFacts& model);

// A text, a list of texts, a list of ids or a list of such lists. Throws Error{BadInput} with the
// member's path: it is missing, an entry is empty, or there are more than `most`.
std::vector<RawInput> read_inputs(const Fields& fields, std::string_view name,
                                  std::size_t vocab_size, std::size_t most);
// A list of ids below `vocab_size`.
std::vector<TokenId> read_ids(const Json& list, const std::string& path, std::size_t vocab_size);

}  // namespace smol::server
