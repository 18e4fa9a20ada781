#include "engine/sequence.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "model/decoder.h"

namespace smol::engine {
namespace {

// So many pending tokens go through one step with a draft or none; more are read in chunks.
constexpr std::size_t kMostAtOnce = 8;

// What stays of a full context: the beginning, where attention rests (Xiao 2023, arXiv:2309.17453),
// and the latest half.
constexpr std::size_t kSinks = model::kBlockTokens;

std::size_t rolled_size(std::size_t context) noexcept {
  return std::max<std::size_t>(context / 2, 1);
}

void check_prompt(const Request& request, const Sequence::Limits& limits) {
  const std::vector<TokenId>& prompt = request.prompt;
  if (prompt.empty()) {
    throw Error(ErrorCode::BadInput, "prompt: expected at least one token, found none");
  }
  if (prompt.size() > limits.context && !request.roll) {
    throw Error(ErrorCode::BadInput, "prompt: expected at most " + std::to_string(limits.context) +
                                         " tokens (the context), found " +
                                         std::to_string(prompt.size()));
  }
  for (const TokenId id : prompt) {
    if (id < 0 || static_cast<std::size_t>(id) >= limits.vocab_size) {
      throw Error(ErrorCode::BadInput, "prompt: expected token ids below " +
                                           std::to_string(limits.vocab_size) + ", found " +
                                           std::to_string(id));
    }
  }
}

}  // namespace

void Sequence::check(const Request& request, const Limits& limits) {
  check_prompt(request, limits);
  validate(request.sampling, limits.vocab_size);
}

Sequence::Sequence(Request request, std::shared_ptr<Sink> sink, std::shared_ptr<Ticket> ticket,
                   const Limits& limits)
    : request_(std::move(request)),
      sink_(std::move(sink)),
      ticket_(std::move(ticket)),
      limits_(limits),
      history_(request_.prompt),
      window_(request_.prompt),
      since_(Clock::now()) {
  result_.prompt_tokens = request_.prompt.size();
  if (window_.size() > limits_.context) {
    roll();
  }
}

void Sequence::start(std::size_t n_done) {
  if (!started_) {
    started_ = true;
    result_.cached_tokens = n_done;
    if (request_.task == Task::Answer) {
      sampler_.emplace(request_.sampling, limits_.vocab_size);
      result_.seed = sampler_->seed();
    }
    if (request_.task == Task::Answer && limits_.speculates) {
      lookup_.emplace();
      lookup_->append(history_);
    }
  }
  n_done_ = n_done;
  writes_ = false;
  restarts_ = false;
}

bool Sequence::reads_chunks() const noexcept {
  return !writes_ || pending().size() > kMostAtOnce;
}

std::vector<TokenId> Sequence::draft(std::size_t most, std::size_t n_writing,
                                     const StepSpeed& speed) {
  if (!lookup_ || !writes_) {
    return {};
  }
  // A drafted token that is accepted is followed by one that was picked.
  const std::size_t left = tokens_left();
  const std::size_t room = std::min(limits_.context - window_.size(), left == 0 ? 0 : left - 1);
  return lookup_->draft(std::min(most, room), n_writing, speed);
}

std::size_t Sequence::take(const LogitRows& logits, std::span<const TokenId> drafts) {
  n_done_ = window_.size();
  writes_ = true;
  ++result_.n_steps;
  std::size_t kept = 0;
  for (std::size_t row = 0; row <= drafts.size() && !end_; ++row) {
    const std::optional<TokenId> token = next_token(logits.part(row, 1));
    if (!token || row == drafts.size() || *token != drafts[row] || end_ || restarts_) {
      break;
    }
    ++kept;
    ++n_done_;
  }
  if (lookup_) {
    lookup_->took(drafts.size(), kept);
  }
  result_.drafted_tokens += drafts.size();
  result_.accepted_tokens += kept;
  // Their scores need logits: then they are chosen one a step.
  if (!request_.top_logprobs) {
    emit_forced();
  }
  return kept;
}

// Chooses and emits one; nothing where the turn ends.
std::optional<TokenId> Sequence::next_token(const LogitRows& logits) {
  TokenConstraint* const constraint = request_.constraint.get();
  const std::optional<TokenId> forced = constraint == nullptr ? std::nullopt : constraint->forced();
  const auto mask = constraint == nullptr || forced ? std::span<const std::uint64_t>()
                                                    : constraint->mask(tokens_left());
  const TokenId token =
      forced ? *forced : sampler_->pick(logits.values(), history_, mask, logits.maxima());
  if (!forced && request_.ends_turn && request_.ends_turn(token)) {
    end_ = FinishReason::EndOfTurn;
    return std::nullopt;
  }
  if (request_.top_logprobs) {
    const TokenScores scores = score_token(logits.values(), token, *request_.top_logprobs);
    emit(token, forced.has_value(), &scores);
  } else {
    emit(token, forced.has_value(), nullptr);
  }
  return token;
}

void Sequence::emit_forced() {
  for (std::size_t n = 0; n < limits_.most_forced; ++n) {
    if (request_.constraint == nullptr || end_ || restarts_) {
      return;
    }
    const std::optional<TokenId> forced = request_.constraint->forced();
    if (!forced) {
      return;
    }
    emit(*forced, true, nullptr);
  }
}

void Sequence::emit(TokenId token, bool forced, const TokenScores* scores) {
  SMOL_CHECK(token >= 0 && static_cast<std::size_t>(token) < limits_.vocab_size);
  ++result_.generated_tokens;
  history_.push_back(token);
  window_.push_back(token);
  if (lookup_) {
    lookup_->append({&token, 1});
  }
  if (request_.constraint != nullptr) {
    request_.constraint->accept(token);
  }
  if (!sink_->on_token({token, forced, scores})) {
    end_ = FinishReason::SinkStopped;
  } else if (request_.constraint != nullptr && request_.constraint->must_end()) {
    // No step is needed to find that out, nor is it cut by a limit that it just meets.
    end_ = FinishReason::EndOfTurn;
  } else if (request_.max_tokens != 0 && result_.generated_tokens >= request_.max_tokens) {
    end_ = FinishReason::MaxTokens;
  } else if (window_.size() > limits_.context && request_.roll) {
    roll();
  } else if (window_.size() > limits_.context) {
    end_ = FinishReason::ContextFull;
  }
}

// Tokens that the answer can still take, at least 1 before its end.
std::size_t Sequence::tokens_left() const noexcept {
  const std::size_t asked = request_.max_tokens == 0
                                ? limits_.context + 1
                                : request_.max_tokens - result_.generated_tokens;
  // The last token of an answer need not be held.
  return request_.roll ? asked : std::min(asked, limits_.context + 1 - window_.size());
}

// The cut text is read anew, so that what follows is what the model says to exactly that text.
void Sequence::roll() {
  const std::size_t kept = rolled_size(limits_.context);
  const std::size_t n_sinks = std::min(kSinks, kept / 2);
  const std::size_t n_cut = window_.size() - kept;
  const auto first = window_.begin() + static_cast<std::ptrdiff_t>(n_sinks);
  window_.erase(first, first + static_cast<std::ptrdiff_t>(n_cut));
  n_done_ = 0;
  restarts_ = true;
  result_.rolled = true;
}

void Sequence::enter(Phase phase, Clock::time_point now) noexcept {
  const auto passed = now - since_;
  if (phase_ == Phase::Waiting && !has_written_) {
    result_.queue_time += passed;
  } else if (phase_ == Phase::Reading) {
    result_.prefill_time += passed;
  } else if (phase_ != Phase::Paused) {
    result_.decode_time += passed;
  }
  since_ = now;
  phase_ = phase;
  has_written_ = has_written_ || phase == Phase::Writing;
}

void Sequence::tell(std::size_t ahead, double reading_seconds_per_token) noexcept {
  Progress progress;
  progress.phase = phase_;
  progress.ahead = ahead;
  progress.prompt_tokens = result_.prompt_tokens;
  const bool has_answer = result_.generated_tokens > 0;
  progress.read_tokens = has_answer ? result_.prompt_tokens : n_done_;
  progress.cached_tokens = result_.cached_tokens;
  progress.generated_tokens = result_.generated_tokens;
  if (!has_answer) {
    progress.read_seconds_left = static_cast<double>(pending().size()) * reading_seconds_per_token;
  }
  ticket_->set_progress(progress);
  sink_->on_progress(progress);
}

void Sequence::add_hidden(std::span<const float> hidden) {
  hidden_sum_.resize(hidden.size());
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    hidden_sum_[i] += hidden[i];
  }
}

// Of length 1, so the mean's divisor does not matter; all zeros stay zeros.
std::vector<float> Sequence::mean_hidden() const {
  double squares = 0;
  for (const double value : hidden_sum_) {
    squares += value * value;
  }
  const double scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
  std::vector<float> out;
  for (const double value : hidden_sum_) {
    out.push_back(static_cast<float>(value * scale));
  }
  return out;
}

void Sequence::finish() noexcept {
  SMOL_CHECK(end_.has_value());
  result_.embedding = mean_hidden();
  result_.reason = *end_;
  enter(Phase::Finished, Clock::now());
  tell(0, 0);
  sink_->on_finished(result_);
}

void Sequence::fail(const Error& error) noexcept {
  enter(Phase::Finished, Clock::now());
  tell(0, 0);
  sink_->on_failed(error);
}

}  // namespace smol::engine
