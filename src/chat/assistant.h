// The assistant as the terminal, the API and the page see it: turns that run side by side, each a
// prompt that is read and an answer that streams. The seam between what speaks HTTP and what
// computes: tests of the server put scripted turns behind it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/json.h"
#include "chat/message.h"
#include "chat/output_parser.h"
#include "chat/prompt_builder.h"
#include "engine/sampler.h"

namespace smol::chat {

// One token of the visible answer, scored by the raw distribution (before temperature, penalties
// and masks). The bytes of all of them join to the answer's text.
struct TokenScore {
  struct Alternative {
    std::string bytes;  // may end inside a UTF-8 character
    double logprob;
  };

  std::string bytes;
  double logprob;
  std::vector<Alternative> top;  // best first, exactly as many as were asked for
};

// What the answer is held to, from </think> on.
struct Grammar {
  std::string gbnf;
};

struct JsonSchema {
  Json schema;
};

struct AnyJsonObject {};

// The answer calls one of the tools, or the one of that name.
struct ToolCallRequired {
  std::optional<std::string> name;
};

using AnswerForm =
    std::variant<std::monostate, Grammar, JsonSchema, AnyJsonObject, ToolCallRequired>;

enum class ContextOverflow {
  Refuse,  // a prompt that is too long is an error, a full context ends the answer
  Roll     // the first and the latest tokens are kept; Finished says that it happened
};

struct AnswerOptions {
  engine::SamplingSettings sampling;
  std::size_t max_tokens = 0;  // thoughts included; 0: as many as the context holds
  std::vector<std::string> stop_strings;
  std::optional<std::size_t> thinking_budget;  // tokens; then </think> is put in
  std::optional<std::size_t> top_logprobs;     // none: no TokenScore; at most 20
  AnswerForm form;
  ContextOverflow overflow = ContextOverflow::Refuse;
  bool cache_prompt = true;  // may reuse and be reused
};

struct TurnRequest {
  Prompt prompt;          // built on the caller's thread
  PromptOptions options;  // those it was built with: they say what the answer may hold
  AnswerOptions answer;
  std::string client;       // turns of one client wait for each other, fairly to other clients
  std::size_t n_calls = 0;  // tool calls in the conversation so far: ids are numbered on
  bool raw = false;         // no template was used: all that the model writes is text, tags too
};

enum class TurnPhase { Queued, Reading, Thinking, Writing, Paused, Finished };

// A moment of a turn.
struct TurnProgress {
  TurnPhase phase = TurnPhase::Queued;
  std::size_t ahead = 0;  // turns before it in the queue
  std::size_t prompt_tokens = 0;
  std::size_t read_tokens = 0;    // of the prompt, cached ones included
  std::size_t cached_tokens = 0;  // of these, not computed again
  std::size_t reasoning_tokens = 0;
  std::size_t answer_tokens = 0;
  double read_seconds_left = 0;  // at the measured speed; 0: not known
};

enum class TurnEnd { EndOfTurn, StopString, MaxTokens, ContextFull, Cancelled };

// "end_of_turn", "stop_string", "max_tokens", "context_full", "cancelled".
std::string_view name_of(TurnEnd end) noexcept;

struct TurnUsage {
  std::size_t prompt_tokens = 0;
  std::size_t cached_tokens = 0;     // of these, not computed again
  std::size_t generated_tokens = 0;  // the token that ended the turn is not counted
  std::size_t reasoning_tokens = 0;  // of the generated ones
  std::size_t drafted_tokens = 0;    // by prompt lookup
  std::size_t accepted_tokens = 0;   // of these, those the model agreed with
  std::chrono::nanoseconds queue_time{0};
  std::chrono::nanoseconds prefill_time{0};
  std::chrono::nanoseconds decode_time{0};
};

struct TurnFinished {
  TurnEnd end = TurnEnd::EndOfTurn;
  TurnUsage usage;
  std::uint64_t seed = 0;  // the one used
  bool cut_while_thinking = false;
  bool rolled = false;  // the context was full and went on without its middle
  Message message;      // the assistant's, ready to be appended to the history
};

using AnswerEvent = std::variant<TextDelta, ThinkingDelta, TokenScore, ToolCall, CodeBlock>;

// Receives a turn on the engine's thread: returns at once, never throws, never calls back.
// on_finished or on_failed comes exactly once, last; then the turn lets the sink go, so that a sink
// may own its turn.
class TurnSink {
 public:
  virtual ~TurnSink() = default;
  virtual void on_progress(const TurnProgress& progress) noexcept = 0;
  virtual void on_event(const AnswerEvent& event) noexcept = 0;
  virtual void on_finished(const TurnFinished& finished) noexcept = 0;
  virtual void on_failed(const Error& error) noexcept = 0;
};

// A turn that was started. Any thread; each takes effect within half a second, in every phase, and
// does nothing once the turn has finished. Dropping it neither stops nor pauses the turn.
class Turn {
 public:
  virtual ~Turn() = default;
  virtual void cancel() noexcept = 0;
  virtual void pause() noexcept = 0;       // keeps what was computed
  virtual void resume() noexcept = 0;      // computes nothing again
  virtual void answer_now() noexcept = 0;  // ends the thinking
  virtual TurnProgress progress() const noexcept = 0;
};

// What the whole machine does, for the status page and the metrics. Counts since the start.
struct AssistantStats {
  std::size_t running = 0, waiting = 0, paused = 0;
  std::size_t waiting_max = std::numeric_limits<std::size_t>::max();  // further ones are refused
  std::size_t kv_bytes = 0, kv_bytes_max = 0;                         // in use; the budget
  std::size_t cached_prefix_bytes = 0;  // of these, kept for later prompts only
  std::uint64_t prompt_tokens = 0, cached_tokens = 0, generated_tokens = 0;
  std::uint64_t computed_tokens = 0;  // that went through the model, all told
  std::uint64_t drafted_tokens = 0, accepted_tokens = 0;
  std::uint64_t finished = 0, cancelled = 0, failed = 0;
  double prompt_tokens_per_second = 0, generated_tokens_per_second = 0;  // lately
};

struct ModelFacts {
  std::string id;  // the file's name without path and ending
  std::string architecture;
  std::string quantization;  // as the file names it
  std::size_t context = 0;   // of one turn
  std::size_t vocab_size = 0, embedding_size = 0;
  std::uint64_t file_bytes = 0;
  bool is_demo = false;
};

// Any thread.
class Assistant {
 public:
  virtual ~Assistant() = default;
  virtual const ModelFacts& model() const noexcept = 0;
  virtual const PromptBuilder& builder() const noexcept = 0;
  // Throws Error{BadInput} for what the request says wrongly, the prompt's length with both counts
  // included, Error{Exhausted} when the queue is full. After that all news go to the sink.
  virtual std::shared_ptr<Turn> start(TurnRequest request, std::shared_ptr<TurnSink> sink) = 0;
  // The mean of the last hidden states, of length 1. [embedding_size]. Waits for its result; a stop
  // ends that within half a second, with an Error.
  virtual std::vector<float> embed(std::span<const TokenId> ids, const std::stop_token& stop) = 0;
  // Tokens of the prompt that a turn started now would not compute again.
  virtual std::size_t reusable(std::span<const TokenId> prompt) const = 0;
  virtual AssistantStats stats() const = 0;
};

}  // namespace smol::chat
