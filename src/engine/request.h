// What is asked of the engine, and what it tells: tokens in, tokens out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "engine/sampler.h"
#include "engine/token_constraint.h"
#include "engine/token_scores.h"

namespace smol::engine {

enum class Task {
  Answer,  // tokens that follow the prompt
  Read,    // nothing: the prompt is read ahead for later requests
  Embed    // the mean of the last hidden states
};

struct Request {
  Task task = Task::Answer;
  std::vector<TokenId> prompt;  // at least one
  SamplingSettings sampling;
  std::size_t max_tokens = 0;               // 0: as many as the context holds
  std::function<bool(TokenId)> ends_turn;   // none: no token does. Called on the engine's thread
  std::optional<std::size_t> top_logprobs;  // none: no scores
  std::shared_ptr<TokenConstraint> constraint;  // none: any token
  bool roll = false;                            // a full context goes on without its middle
  bool cache_prompt = true;                     // may reuse what is kept, and is kept
  std::string client;  // requests of one client wait for each other, fairly to other clients
  std::string owner;   // whose tokens these are, for Engine::forget(); "": nobody's
};

enum class Phase { Waiting, Reading, Writing, Paused, Finished };

struct Progress {
  Phase phase = Phase::Waiting;
  std::size_t ahead = 0;  // requests before it in the queue
  std::size_t prompt_tokens = 0;
  std::size_t read_tokens = 0;    // of the prompt, cached ones included
  std::size_t cached_tokens = 0;  // of these, not computed again
  std::size_t generated_tokens = 0;
  double read_seconds_left = 0;  // at the measured speed; 0: not known
};

enum class FinishReason {
  EndOfTurn,    // the model ended its turn
  SinkStopped,  // the sink did: a stop string was met
  MaxTokens,    // max_tokens were generated
  ContextFull,  // the context holds no further token
  Cancelled
};

struct Result {
  FinishReason reason = FinishReason::EndOfTurn;
  std::size_t prompt_tokens = 0;
  std::size_t cached_tokens = 0;     // of these, reused
  std::size_t generated_tokens = 0;  // the token that ended the turn is not counted
  std::size_t drafted_tokens = 0;    // by prompt lookup
  std::size_t accepted_tokens = 0;   // of these, those that the sampler picked, too
  std::size_t n_steps = 0;           // forward passes that generated
  std::chrono::nanoseconds queue_time{0};
  std::chrono::nanoseconds prefill_time{0};
  std::chrono::nanoseconds decode_time{0};  // pauses left out
  std::uint64_t seed = 0;                   // the one used
  bool rolled = false;                      // the context went on without its middle
  std::vector<float> embedding;             // Task::Embed: [d_model], of length 1
};

struct Token {
  TokenId id;
  bool forced;                // by the constraint
  const TokenScores* scores;  // nullptr unless asked for; valid during the call
};

// Receives one request's news on the engine's thread: returns at once, never throws, never calls
// the engine. on_finished or on_failed comes exactly once, last.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void on_progress(const Progress& progress) noexcept = 0;
  // Each token of the answer, the one that ends the turn excepted. Returns false to end the answer.
  virtual bool on_token(const Token& token) noexcept = 0;
  virtual void on_finished(const Result& result) noexcept = 0;
  virtual void on_failed(const Error& error) noexcept = 0;
};

}  // namespace smol::engine
