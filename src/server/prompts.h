// Typed requests -> prompts, and what the errors on the way say of the request.
#pragma once

#include <string_view>

#include "base/error.h"
#include "base/json_fwd.h"
#include "chat/prompt_builder.h"
#include "server/api_error.h"
#include "server/chat_request.h"
#include "server/completion_request.h"

namespace smol::server {

// Throws Error{BadInput} naming messages for what the template does not take.
chat::Prompt build_prompt(const chat::PromptBuilder& builder, const ChatPrompt& prompt);
// The text as it would stand in the prompt, without ids.
chat::Prompt render_prompt(const chat::PromptBuilder& builder, const ChatPrompt& prompt);

// Added tokens in it count: nobody's text stands beside it.
chat::Prompt raw_prompt(const text::Tokenizer& tokenizer, const RawInput& input);

// The error of a turn that was not started, in terms of the request: a name that the body does not
// have becomes the field the thing came from, `prompt_field` for the prompt itself.
ApiError turn_error(const Error& error, const Json& body, std::string_view prompt_field);

}  // namespace smol::server
