#include "chat/running_turn.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace smol::chat {
namespace {

constexpr std::size_t kBits = 64;  // of a word of a mask

OutputMode mode_of(const TurnRequest& request, const TagTokens& tags) {
  OutputMode mode;
  mode.raw = request.raw;
  mode.tools = !request.options.tools.empty() || request.options.extra.contains("xml_tools");
  mode.python_tools = !request.options.python_tools.empty();
  mode.reasoning_open = request.prompt.reasoning_open;
  mode.token_tags = tags.set();
  return mode;
}

std::string id_of_call(std::size_t index) {
  const std::string digits = std::to_string(index + 1);
  return "call_" + std::string(4 - std::min<std::size_t>(4, digits.size()), '0') + digits;
}

// Tags that may mean something behind the thoughts.
TagSet meant_in_answer(const OutputMode& mode) {
  TagSet tags;
  for (const Tag tag : {Tag::ToolCallOpen, Tag::ToolCallClose}) {
    tags[static_cast<std::size_t>(tag)] = mode.tools && !mode.raw;
  }
  for (const Tag tag : {Tag::CodeOpen, Tag::CodeClose}) {
    tags[static_cast<std::size_t>(tag)] = mode.python_tools && !mode.raw;
  }
  return tags;
}

// Whether the prompt already holds the thoughts, empty ones perhaps.
bool thoughts_are_closed(const Prompt& prompt, TokenId close, const text::Tokenizer& tokenizer) {
  const auto last = std::find(prompt.ids.rbegin(), prompt.ids.rend(), close);
  return last != prompt.ids.rend() && std::all_of(prompt.ids.rbegin(), last, [&](TokenId id) {
           return tokenizer.bytes_of(id).find_first_not_of(" \t\r\n") == std::string_view::npos;
         });
}

}  // namespace

TurnEnd end_of(engine::FinishReason reason) noexcept {
  switch (reason) {
    case engine::FinishReason::EndOfTurn:
      return TurnEnd::EndOfTurn;
    case engine::FinishReason::SinkStopped:
      return TurnEnd::StopString;
    case engine::FinishReason::MaxTokens:
      return TurnEnd::MaxTokens;
    case engine::FinishReason::ContextFull:
      return TurnEnd::ContextFull;
    case engine::FinishReason::Cancelled:
      return TurnEnd::Cancelled;
  }
  return TurnEnd::EndOfTurn;
}

RunningTurn::RunningTurn(const text::Tokenizer& tokenizer, const TagTokens& tags,
                         const TurnRequest& request, std::unique_ptr<engine::TokenConstraint> form,
                         std::size_t vocab_size, std::shared_ptr<TurnSink> sink)
    : tokenizer_(tokenizer),
      tags_(tags),
      sink_(std::move(sink)),
      form_(std::move(form)),
      vocab_size_(vocab_size),
      thinking_budget_(request.answer.thinking_budget),
      closing_(tokenizer.encode(text_of(Tag::ThinkClose))),
      decoder_(tokenizer, true),
      stops_(request.answer.stop_strings),
      meant_tags_(meant_in_answer(mode_of(request, tags))),
      written_(mode_of(request, tags)),
      n_calls_(request.n_calls),
      in_reasoning_(written_.in_reasoning()) {
  const std::optional<TokenId> close = tags.id_of(Tag::ThinkClose);
  if (request.raw) {
    place_ = Place::Answer;
  } else if (request.prompt.reasoning_open) {
    place_ = Place::Thoughts;
  } else if (tags.id_of(Tag::ThinkOpen) && close && request.options.think != ThinkMode::Off &&
             !thoughts_are_closed(request.prompt, *close, tokenizer)) {
    place_ = Place::Start;
  }
}

TurnProgress RunningTurn::progress(const engine::Progress& progress) const noexcept {
  TurnProgress out;
  switch (progress.phase) {
    case engine::Phase::Waiting:
      out.phase = TurnPhase::Queued;
      break;
    case engine::Phase::Reading:
      out.phase = TurnPhase::Reading;
      break;
    case engine::Phase::Writing:
      out.phase = in_reasoning_ ? TurnPhase::Thinking : TurnPhase::Writing;
      break;
    case engine::Phase::Paused:
      out.phase = TurnPhase::Paused;
      break;
    case engine::Phase::Finished:
      out.phase = TurnPhase::Finished;
      break;
  }
  out.ahead = progress.ahead;
  out.prompt_tokens = progress.prompt_tokens;
  out.read_tokens = progress.read_tokens;
  out.cached_tokens = progress.cached_tokens;
  out.reasoning_tokens = n_reasoning_;
  out.answer_tokens = n_tokens_ - out.reasoning_tokens;
  out.read_seconds_left = progress.read_seconds_left;
  return out;
}

void RunningTurn::on_progress(const engine::Progress& progress) noexcept {
  progress_ = progress;
  sink_->on_progress(this->progress(progress));
}

bool RunningTurn::on_token(const engine::Token& token) noexcept {
  const bool was_thinking = written_.in_reasoning();
  n_reasoning_ += was_thinking ? 1 : 0;
  ++n_tokens_;
  const auto tag = tags_.tag_of(token.id);
  if (token.scores != nullptr && !was_thinking && (!tag || is_text(*tag))) {
    scored_.push(score_of(token.id, *token.scores));
  }
  if (tag) {
    push({decoder_.flush(), false});
    push({std::string(text_of(*tag)), true});
  } else {
    push({decoder_.push(token.id), false});
  }
  in_reasoning_ = written_.in_reasoning();
  if (was_thinking != in_reasoning_ && progress_.phase == engine::Phase::Writing) {
    sink_->on_progress(progress(progress_));
  }
  return !stops_.stopped();
}

// Whether a tag token that was just accepted is shown as it is.
bool RunningTurn::is_text(Tag tag) const noexcept {
  return place_ == Place::Answer && !meant_tags_[static_cast<std::size_t>(tag)];
}

void RunningTurn::on_finished(const engine::Result& result) noexcept {
  push({decoder_.flush(), false});
  parse(stops_.flush());
  const bool in_reasoning = written_.in_reasoning();
  emit(written_.finish());
  TurnFinished finished = finished_with(result);
  finished.cut_while_thinking = in_reasoning && result.reason != engine::FinishReason::EndOfTurn;
  sink_->on_finished(finished);
  sink_.reset();
}

void RunningTurn::on_failed(const Error& error) noexcept {
  sink_->on_failed(error);
  sink_.reset();
}

TurnFinished RunningTurn::finished_with(const engine::Result& result) const {
  TurnFinished finished;
  finished.end = end_of(result.reason);
  finished.usage = {.prompt_tokens = result.prompt_tokens,
                    .cached_tokens = result.cached_tokens,
                    .generated_tokens = result.generated_tokens,
                    .reasoning_tokens = n_reasoning_,
                    .drafted_tokens = result.drafted_tokens,
                    .accepted_tokens = result.accepted_tokens,
                    .queue_time = result.queue_time,
                    .prefill_time = result.prefill_time,
                    .decode_time = result.decode_time};
  finished.seed = result.seed;
  finished.rolled = result.rolled;
  written_.store_in(finished.message);
  std::vector<ToolCall>& calls = finished.message.tool_calls;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls[i].id = id_of_call(n_calls_ - calls.size() + i);
  }
  return finished;
}

void RunningTurn::push(Piece piece) {
  parse(stops_.push(std::move(piece)));
}

void RunningTurn::parse(const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    emit(written_.take(piece));
  }
}

void RunningTurn::emit(std::vector<OutputEvent> events) {
  for (OutputEvent& event : events) {
    if (auto* call = std::get_if<ToolCall>(&event)) {
      call->id = id_of_call(n_calls_++);
    }
    std::visit([&](const auto& one) { sink_->on_event(one); }, event);
    send_scores(event);
  }
}

void RunningTurn::send_scores(const OutputEvent& event) {
  if (const auto* text = std::get_if<TextDelta>(&event)) {
    for (TokenScore& score : scored_.show(text->text)) {
      sink_->on_event(std::move(score));
    }
  } else {
    scored_.drop();
  }
}

TokenScore RunningTurn::score_of(TokenId id, const engine::TokenScores& scores) const {
  TokenScore out{std::string(tokenizer_.bytes_of(id)), scores.logprob, {}};
  for (const engine::TokenScores::Alternative& one : scores.top) {
    out.top.push_back({std::string(tokenizer_.bytes_of(one.id)), one.logprob});
  }
  return out;
}

bool RunningTurn::must_end_thoughts() const noexcept {
  if (!written_.in_reasoning()) {
    return false;
  }
  return answer_now_.load(std::memory_order_relaxed) ||
         (thinking_budget_ && n_reasoning_ >= *thinking_budget_);
}

std::optional<TokenId> RunningTurn::forced() {
  if (n_closed_ > 0 || must_end_thoughts()) {
    return closing_[n_closed_];
  }
  return form_ != nullptr && place_ == Place::Answer ? form_->forced() : std::nullopt;
}

// All but what ends the turn: the answer is still to come.
std::span<const std::uint64_t> RunningTurn::mask_of_thoughts() {
  if (thoughts_mask_.empty()) {
    thoughts_mask_.assign(vocab_size_ / kBits + 1, ~std::uint64_t{0});
    for (std::size_t i = 0; i < vocab_size_; ++i) {
      if (tokenizer_.ends_turn(static_cast<TokenId>(i))) {
        thoughts_mask_[i / kBits] &= ~(std::uint64_t{1} << (i % kBits));
      }
    }
  }
  return thoughts_mask_;
}

std::span<const std::uint64_t> RunningTurn::mask(std::size_t tokens_left) {
  if (form_ == nullptr) {
    return {};
  }
  if (place_ == Place::Thoughts) {
    return mask_of_thoughts();
  }
  const std::span<const std::uint64_t> mask = form_->mask(tokens_left);
  if (place_ == Place::Answer || mask.empty()) {
    return mask;
  }
  first_mask_.assign(mask.begin(), mask.end());
  const auto open = static_cast<std::size_t>(tags_.id_of(Tag::ThinkOpen).value());
  first_mask_[open / kBits] |= std::uint64_t{1} << (open % kBits);
  return first_mask_;
}

void RunningTurn::accept(TokenId token) {
  if (n_closed_ > 0 || (must_end_thoughts() && token == closing_.front())) {
    n_closed_ = n_closed_ + 1 == closing_.size() ? 0 : n_closed_ + 1;
  }
  if (place_ == Place::Start && token == tags_.id_of(Tag::ThinkOpen)) {
    place_ = Place::Thoughts;
  } else if (place_ == Place::Thoughts) {
    place_ = token == tags_.id_of(Tag::ThinkClose) ? Place::Answer : Place::Thoughts;
  } else {
    place_ = Place::Answer;
    if (form_ != nullptr) {
      form_->accept(token);
    }
  }
}

bool RunningTurn::must_end() const {
  return form_ != nullptr && place_ == Place::Answer && form_->must_end();
}

}  // namespace smol::chat
