// The body of POST /v1/chat/completions, read once.
#pragma once

#include <vector>

#include "base/json_fwd.h"
#include "chat/assistant.h"
#include "chat/message.h"
#include "chat/prompt_builder.h"
#include "server/answer_fields.h"

namespace smol::server {

// What makes the prompt: /apply-template takes no more.
struct ChatPrompt {
  std::vector<chat::Message> messages;  // at least one
  chat::PromptOptions options;
};

struct ChatRequest {
  ChatPrompt prompt;
  AnswerWish wish;
};

// Both throw Error with the field's path: BadInput, Unsupported (content that is no text), NotFound
// (another model).
ChatPrompt read_chat_prompt(const Json& body, const chat::ModelFacts& model);
ChatRequest read_chat_request(const Json& body, const chat::ModelFacts& model);

}  // namespace smol::server
