// One turn of a chat: build the prompt, encode, generate, decode, parse.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "chat/message.h"
#include "chat/output_parser.h"
#include "chat/prompt_builder.h"
#include "engine/generator.h"

namespace smol::chat {

struct TurnOptions {
  PromptOptions prompt;
  engine::SamplingSettings sampling;
  std::size_t max_tokens = 0;  // 0: as many as the context holds
  std::vector<std::string> stop_strings;
  std::size_t prefill_chunk = 0;  // 0: chosen by the engine
};

struct Finished {
  engine::GenerationResult generation;
  std::size_t reasoning_tokens = 0;  // of the generated ones
  bool cut_while_thinking = false;
};

using TurnEvent = std::variant<TextDelta, ThinkingDelta, ToolCall, CodeBlock, Finished>;

struct TurnResult {
  Message message;  // the assistant's, ready to be appended to the history
  Finished finished;
  std::vector<TokenId> ids;  // as generated
};

// One turn at a time. Tokenizer, builder and generator must outlive it.
class ChatService {
 public:
  using EventSink = std::function<void(const TurnEvent&)>;

  ChatService(const PromptBuilder& builder, engine::Generator& generator);

  // Events come on the calling thread, Finished last. Cancelling through `stop` is a normal end.
  // Throws what PromptBuilder::build and Generator::generate throw, and what a sink throws.
  TurnResult reply(std::span<const Message> history, const TurnOptions& options,
                   const EventSink& on_event, const std::stop_token& stop = {},
                   const engine::Generator::ProgressSink& on_progress = {});
  // The same for a prompt that is already built.
  TurnResult reply_to(const Prompt& prompt, const TurnOptions& options, const EventSink& on_event,
                      const std::stop_token& stop = {},
                      const engine::Generator::ProgressSink& on_progress = {});

 private:
  TurnResult run(const Prompt& prompt, std::size_t n_calls, const TurnOptions& options,
                 const EventSink& on_event, const std::stop_token& stop,
                 const engine::Generator::ProgressSink& on_progress);

  const PromptBuilder& builder_;
  engine::Generator& generator_;
  TagTokens tags_;
};

}  // namespace smol::chat
