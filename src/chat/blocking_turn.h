// One turn for a caller who waits for it: what a terminal does.
#pragma once

#include <functional>
#include <span>
#include <stop_token>

#include "chat/assistant.h"
#include "chat/message.h"

namespace smol::chat {

struct TurnOptions {
  PromptOptions prompt;
  AnswerOptions answer;
};

using EventSink = std::function<void(const AnswerEvent&)>;
using ProgressSink = std::function<void(const TurnProgress&)>;

// Events and progress come on the calling thread. Cancelling through `stop` is a normal end. Throws
// what PromptBuilder::build and Assistant::start throw, what the turn fails with, and what a sink
// throws; then the turn is cancelled.
TurnFinished reply(Assistant& assistant, std::span<const Message> history,
                   const TurnOptions& options, const EventSink& on_event,
                   const std::stop_token& stop = {}, const ProgressSink& on_progress = {});

}  // namespace smol::chat
