// From a session to what the assistant is asked.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "chat/assistant.h"
#include "store/types.h"

namespace smol::page {

// How one turn is to be answered: the session's settings, and what the request said beside them.
struct TurnWish {
  chat::AnswerOptions answer;
  std::vector<chat::ToolSpec> tools;
  bool think = true;
  std::size_t left_out = 0;  // the oldest messages behind the last note: not in the prompt
  // What the note says below which a whole answer takes the place of what stands above it; "": the
  // answer is one like others.
  std::string note = {};
};

// The settings as fields of the API.
Json answer_fields(const store::Settings& settings);
// Throws Error{BadInput} with the field's name.
chat::AnswerOptions answer_options(const Json& fields, const chat::ModelFacts& model);

// The prompt of the answer that follows `path`, or that goes on, where the path ends with an
// answer. Throws Error{BadInput} for what the template does not take.
chat::TurnRequest turn_request(const chat::PromptBuilder& builder, const store::Session& session,
                               std::span<const store::Message> path, const TurnWish& wish);

// What is wrong with a prompt that leaves no room for an answer; nothing: there is room.
std::optional<store::AnswerError> length_problem(const chat::TurnRequest& request,
                                                 const chat::ModelFacts& model);

// What a turn would have to read.
struct Price {
  std::size_t tokens = 0;  // of these, those that are not kept
  std::size_t total = 0;
  double seconds = 0;  // for them, at the measured speed; 0: not known
};

Price price_of(const chat::Assistant& assistant, const chat::TurnRequest& request);

}  // namespace smol::page
