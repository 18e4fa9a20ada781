// The turns of one request (n answers, several prompts) and the reply they make together, whole or
// as a stream. Any client that leaves, and any turn that fails, cancels all of them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/json_fwd.h"
#include "chat/assistant.h"
#include "server/api_error.h"
#include "server/live_reply.h"
#include "server/metrics.h"
#include "server/router.h"
#include "server/sse.h"

namespace smol::server {

// What has come of one answer: what was streamed adds up to it, byte for byte.
struct Choice {
  chat::ParsedOutput output = {};
  std::vector<chat::TokenScore> scores = {};
  std::size_t sent_scores = 0;      // of scores, those that are in a chunk already
  std::size_t sent_characters = 0;  // that these begin
  std::optional<chat::TurnFinished> finished = {};
};

// How an API writes answers. Calls come one at a time; `choice` holds the event already.
class AnswerFormat {
 public:
  AnswerFormat() = default;
  virtual ~AnswerFormat() = default;
  AnswerFormat(const AnswerFormat&) = delete;
  AnswerFormat& operator=(const AnswerFormat&) = delete;

  // Chunks of a stream; null: none.
  virtual Json opening(std::size_t index) const = 0;
  virtual Json delta(std::size_t index, Choice& choice, const chat::AnswerEvent& event) const = 0;
  virtual Json closing(std::size_t index, Choice& choice) const = 0;
  virtual Json usage(std::span<const chat::TurnUsage> answers) const = 0;
  // The whole of an answer that is not streamed.
  virtual Json whole(std::span<const Choice> choices) const = 0;
};

struct GroupOptions {
  bool stream = false;
  bool include_usage = false;
};

// Starts one turn for each request. Throws what Assistant::start throws; then none of them runs.
Reply start_turns(chat::Assistant& assistant, Metrics& metrics,
                  std::vector<chat::TurnRequest> requests,
                  std::unique_ptr<const AnswerFormat> format, GroupOptions options);

}  // namespace smol::server
