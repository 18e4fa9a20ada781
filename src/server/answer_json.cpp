#include "server/answer_json.h"

#include <algorithm>
#include <chrono>

#include "base/json.h"
#include "base/utf8.h"

namespace smol::server {
namespace {

Json bytes_json(std::string_view bytes) {
  Json out = Json::array();
  for (const char c : bytes) {
    out.push_back(static_cast<unsigned char>(c));
  }
  return out;
}

Json scored(std::string_view bytes, double logprob) {
  return {{"token", utf8::to_valid(bytes)}, {"logprob", logprob}, {"bytes", bytes_json(bytes)}};
}

double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

Json per_second(std::size_t tokens, std::chrono::nanoseconds time) {
  return time.count() == 0 ? Json(0.0)
                           : Json(static_cast<double>(tokens) * 1000 / milliseconds(time));
}

// Times of turns that run side by side: the longest.
chat::TurnUsage summed(std::span<const chat::TurnUsage> answers, std::size_t n) {
  chat::TurnUsage sum;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const chat::TurnUsage& answer = answers[i];
    if (i % n == 0) {
      sum.prompt_tokens += answer.prompt_tokens;
      sum.cached_tokens += answer.cached_tokens;
      sum.prefill_time += answer.prefill_time;
    }
    sum.generated_tokens += answer.generated_tokens;
    sum.reasoning_tokens += answer.reasoning_tokens;
    sum.drafted_tokens += answer.drafted_tokens;
    sum.accepted_tokens += answer.accepted_tokens;
    sum.queue_time = std::max(sum.queue_time, answer.queue_time);
    sum.decode_time = std::max(sum.decode_time, answer.decode_time);
  }
  return sum;
}

}  // namespace

std::string_view finish_reason_of(const chat::TurnFinished& finished) {
  switch (finished.end) {
    case chat::TurnEnd::MaxTokens:
    case chat::TurnEnd::ContextFull:
      return "length";
    case chat::TurnEnd::EndOfTurn:
    case chat::TurnEnd::StopString:
    case chat::TurnEnd::Cancelled:
      break;
  }
  return finished.message.tool_calls.empty() ? "stop" : "tool_calls";
}

Json usage_json(std::span<const chat::TurnUsage> answers, std::size_t n) {
  const chat::TurnUsage sum = summed(answers, n);
  return {{"prompt_tokens", sum.prompt_tokens},
          {"completion_tokens", sum.generated_tokens},
          {"total_tokens", sum.prompt_tokens + sum.generated_tokens},
          {"prompt_tokens_details", {{"cached_tokens", sum.cached_tokens}}},
          {"completion_tokens_details", {{"reasoning_tokens", sum.reasoning_tokens}}}};
}

Json timings_json(std::span<const chat::TurnUsage> answers, std::size_t n) {
  const chat::TurnUsage sum = summed(answers, n);
  const std::size_t read = sum.prompt_tokens - std::min(sum.prompt_tokens, sum.cached_tokens);
  return {{"queue_ms", milliseconds(sum.queue_time)},
          {"prompt_n", read},
          {"prompt_ms", milliseconds(sum.prefill_time)},
          {"prompt_per_second", per_second(read, sum.prefill_time)},
          {"predicted_n", sum.generated_tokens},
          {"predicted_ms", milliseconds(sum.decode_time)},
          {"predicted_per_second", per_second(sum.generated_tokens, sum.decode_time)},
          {"drafted_n", sum.drafted_tokens},
          {"accepted_n", sum.accepted_tokens}};
}

Json logprob_json(const chat::TokenScore& score) {
  Json out = scored(score.bytes, score.logprob);
  out["top_logprobs"] = Json::array();
  for (const chat::TokenScore::Alternative& one : score.top) {
    out["top_logprobs"].push_back(scored(one.bytes, one.logprob));
  }
  return out;
}

Json tool_call_json(const chat::ToolCall& call) {
  return {{"id", call.id},
          {"type", "function"},
          {"function", {{"name", call.name}, {"arguments", call.arguments}}}};
}

}  // namespace smol::server
