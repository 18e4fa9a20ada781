// One request on its way through the engine: its tokens, how far the model has read them, and how
// the next one is chosen. Knows no slot and no other sequence.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "engine/logit_rows.h"
#include "engine/prompt_lookup.h"
#include "engine/request.h"
#include "engine/sampler.h"
#include "engine/step_speed.h"
#include "engine/ticket.h"
#include "model/config.h"

namespace smol::engine {

// The engine's thread.
class Sequence {
 public:
  using Clock = std::chrono::steady_clock;

  struct Limits {
    std::size_t context;  // positions of one sequence
    std::size_t vocab_size;
    bool speculates;
    std::size_t most_forced;  // tokens that a step adds to its own where they are forced
  };

  // Throws Error{BadInput}: an empty prompt, an id outside the vocabulary, a bad setting, or a
  // prompt longer than the context (with both counts) unless it may be rolled.
  static void check(const Request& request, const Limits& limits);

  // The request has been checked.
  Sequence(Request request, std::shared_ptr<Sink> sink, std::shared_ptr<Ticket> ticket,
           const Limits& limits);

  const Request& request() const noexcept { return request_; }

  const Ticket& ticket() const noexcept { return *ticket_; }

  // The tokens that the model is to hold, in order: the prompt and the answer so far.
  std::span<const TokenId> window() const noexcept { return window_; }

  // Of these, how many it does.
  std::size_t n_done() const noexcept { return n_done_; }

  std::span<const TokenId> pending() const noexcept { return std::span(window_).subspan(n_done_); }

  // The model holds so many tokens of the window already; the rest is read like a prompt.
  void start(std::size_t n_done);

  // Whether a step takes a chunk of the pending tokens, not all of them with what follows.
  bool reads_chunks() const noexcept;

  // Tokens that may follow the pending ones, to be tried in the same step.
  std::vector<TokenId> draft(std::size_t most, std::size_t n_writing, const StepSpeed& speed);

  // A step has read the next `n_tokens` pending ones, not all.
  void read(std::size_t n_tokens) noexcept { n_done_ += n_tokens; }

  // A step has read all pending tokens and `drafts` behind them: 1 + drafts rows of logits. Returns
  // how many of the drafts stay. Throws what the sampler or the constraint throws.
  std::size_t take(const LogitRows& logits, std::span<const TokenId> drafts);

  // Task::Embed: the last hidden state of a token that was read.
  void add_hidden(std::span<const float> hidden);

  // Why no further step is needed.
  std::optional<FinishReason> end() const noexcept { return end_; }

  void end_with(FinishReason reason) noexcept { end_ = end_.value_or(reason); }

  // The window was cut: the model has to read it anew. Cleared by start().
  bool restarts() const noexcept { return restarts_; }

  // Times are counted from one change of phase to the next.
  void enter(Phase phase, Clock::time_point now) noexcept;

  Phase phase() const noexcept { return phase_; }

  // Of a sequence that has a slot and is not paused.
  Phase working_phase() const noexcept {
    return result_.generated_tokens == 0 ? Phase::Reading : Phase::Writing;
  }

  // News to ticket and sink.
  void tell(std::size_t ahead, double reading_seconds_per_token) noexcept;
  void finish() noexcept;
  void fail(const Error& error) noexcept;

  const Result& result() const noexcept { return result_; }

 private:
  std::optional<TokenId> next_token(const LogitRows& logits);
  void emit(TokenId token, bool forced, const TokenScores* scores);
  void emit_forced();
  std::size_t tokens_left() const noexcept;
  void roll();
  std::vector<float> mean_hidden() const;

  Request request_;
  std::shared_ptr<Sink> sink_;
  std::shared_ptr<Ticket> ticket_;
  Limits limits_;
  std::optional<Sampler> sampler_;  // once it runs
  std::optional<PromptLookup> lookup_;
  std::vector<TokenId> history_;  // prompt and answer, whole
  std::vector<TokenId> window_;   // what of it is in the context
  std::size_t n_done_ = 0;
  bool started_ = false;
  bool writes_ = false;  // a token was chosen since start()
  bool restarts_ = false;
  std::optional<FinishReason> end_;
  Phase phase_ = Phase::Waiting;
  Clock::time_point since_;
  bool has_written_ = false;        // it entered Phase::Writing
  std::vector<double> hidden_sum_;  // Task::Embed
  Result result_;
};

}  // namespace smol::engine
