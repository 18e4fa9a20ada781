// Parts of OpenAI's answers as JSON.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/json_fwd.h"
#include "chat/assistant.h"

namespace smol::server {

// "stop", "length" or "tool_calls".
std::string_view finish_reason_of(const chat::TurnFinished& finished);

// Of the answers to one or several prompts, `n` to each, prompt by prompt. The answers to one
// prompt read it once: its tokens are counted once.
Json usage_json(std::span<const chat::TurnUsage> answers, std::size_t n);
// Milliseconds and tokens a second of prompts and answers, of all together.
Json timings_json(std::span<const chat::TurnUsage> answers, std::size_t n);

// {"token", "bytes", "logprob", "top_logprobs"}
Json logprob_json(const chat::TokenScore& score);
Json tool_call_json(const chat::ToolCall& call);

}  // namespace smol::server
