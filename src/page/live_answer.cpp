#include "page/live_answer.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "server/random_id.h"

namespace smol::page {
namespace {

store::Milliseconds to_ms(std::chrono::nanoseconds time) {
  return std::chrono::round<store::Milliseconds>(time);
}

bool is_open(const store::ToolPart& call) {
  return call.state == store::ToolState::Running || call.state == store::ToolState::Asking;
}

// Rounds that the parts come from: words behind a tool's call begin the next one.
std::size_t count_rounds(const std::vector<store::Part>& parts) {
  std::size_t rounds = parts.empty() ? 0 : 1;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const bool is_tool = std::holds_alternative<store::ToolPart>(parts[i]);
    rounds += std::holds_alternative<store::ToolPart>(parts[i - 1]) && !is_tool ? 1 : 0;
  }
  return rounds;
}

}  // namespace

// Tells the answer what the engine says of one round.
class LiveAnswer::Sink : public chat::TurnSink {
 public:
  Sink(std::shared_ptr<LiveAnswer> answer, std::function<void()> on_end)
      : answer_(std::move(answer)), on_end_(std::move(on_end)) {}

  void on_progress(const chat::TurnProgress& progress) noexcept override {
    const std::lock_guard lock(answer_->mutex_);
    answer_->progress_ = progress;
  }

  void on_event(const chat::AnswerEvent& event) noexcept override {
    const std::lock_guard lock(answer_->mutex_);
    answer_->take(event);
  }

  void on_finished(const chat::TurnFinished& finished) noexcept override {
    {
      const std::lock_guard lock(answer_->mutex_);
      answer_->finish_round(finished);
    }
    on_end_();
  }

  void on_failed(const Error& error) noexcept override {
    {
      const std::lock_guard lock(answer_->mutex_);
      answer_->is_round_running_ = false;
      answer_->round_.reset();
      answer_->round_end_ = error;
    }
    on_end_();
  }

 private:
  std::shared_ptr<LiveAnswer> answer_;
  std::function<void()> on_end_;
};

LiveAnswer::LiveAnswer(Begin begin)
    : turn_(std::move(begin.turn)),
      parent_(begin.parent),
      context_max_(begin.context_max),
      answer_(std::move(begin.answer)) {
  answer_.state = store::AnswerState::Running;
  for (const store::Part& part : answer_.parts) {  // the listeners have what was there before
    const auto* text = std::get_if<store::TextPart>(&part);
    const auto* thought = std::get_if<store::ThinkingPart>(&part);
    heard_.push_back(text != nullptr      ? text->text.size()
                     : thought != nullptr ? thought->text.size()
                                          : 0);
    const auto* tool = std::get_if<store::ToolPart>(&part);
    heard_states_.push_back(tool != nullptr ? tool->state : store::ToolState::Done);
  }
  continues_ =
      !answer_.parts.empty() && !std::holds_alternative<store::ToolPart>(answer_.parts.back());
}

void LiveAnswer::start_round(const std::shared_ptr<LiveAnswer>& self, const MakeTurn& make_turn,
                             std::function<void()> on_end) {
  {
    const std::lock_guard lock(self->mutex_);
    self->is_round_running_ = true;
    self->progress_ = {};
    self->tool_phase_.clear();
    self->speed_.reset();
    const auto* thought = self->answer_.parts.empty()
                              ? nullptr
                              : std::get_if<store::ThinkingPart>(&self->answer_.parts.back());
    self->thought_tokens_before_ = thought == nullptr ? 0 : thought->tokens;
    self->thought_before_ = thought == nullptr ? store::Milliseconds{0} : thought->time;
  }
  auto turn = make_turn(std::make_shared<Sink>(self, std::move(on_end)));
  std::optional<store::AnswerState> ended_by;
  {
    const std::lock_guard lock(self->mutex_);
    self->round_ = self->is_round_running_ ? turn : nullptr;  // it may have ended already
    ended_by = self->ended_by_;
  }
  if (ended_by) {
    turn->cancel();
  }
}

std::optional<RoundEnd> LiveAnswer::take_round_end() {
  const std::lock_guard lock(mutex_);
  return std::exchange(round_end_, std::nullopt);
}

void LiveAnswer::take(const chat::AnswerEvent& event) {
  std::visit(
      [this](const auto& one) {
        using Event = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<Event, chat::ThinkingDelta>) {
          add_thought(one.text);
        } else if constexpr (std::is_same_v<Event, chat::TextDelta>) {
          add_text(one.text);
        } else if constexpr (std::is_same_v<Event, chat::ToolCall>) {
          close_thought();
          store::ToolPart call;
          call.call_id = server::random_id();
          call.name = one.name;
          call.arguments = one.arguments;
          answer_.parts.emplace_back(std::move(call));
        }
      },
      event);
}

void LiveAnswer::add_thought(const std::string& text) {
  if (answer_.parts.empty() || !std::holds_alternative<store::ThinkingPart>(answer_.parts.back())) {
    answer_.parts.emplace_back(store::ThinkingPart{});
    thought_tokens_before_ = 0;
    thought_before_ = store::Milliseconds{0};
  }
  auto& thought = std::get<store::ThinkingPart>(answer_.parts.back());
  if (!thought_began_) {
    thought_began_ = Clock::now();
  }
  thought.text += text;
}

void LiveAnswer::add_text(const std::string& text) {
  close_thought();
  if (answer_.parts.empty() || !std::holds_alternative<store::TextPart>(answer_.parts.back())) {
    answer_.parts.emplace_back(store::TextPart{});
  }
  std::get<store::TextPart>(answer_.parts.back()).text += text;
}

void LiveAnswer::close_thought() {
  if (thought_began_) {
    auto& thought = std::get<store::ThinkingPart>(answer_.parts.back());
    thought.time = thought_before_ + to_ms(Clock::now() - *thought_began_);
    thought.tokens = thought_tokens_before_ + static_cast<std::int64_t>(progress_.reasoning_tokens);
    thought_began_.reset();
  }
}

void LiveAnswer::finish_round(const chat::TurnFinished& finished) {
  const chat::TurnUsage& usage = finished.usage;
  progress_.reasoning_tokens = usage.reasoning_tokens;
  close_thought();
  store::Figures& figures = answer_.figures;
  figures.tokens += static_cast<std::int64_t>(usage.generated_tokens);
  figures.time += to_ms(usage.decode_time);
  if (figures.prompt_tokens == 0) {
    figures.prompt_tokens = static_cast<std::int64_t>(usage.prompt_tokens);
    figures.cached_tokens = static_cast<std::int64_t>(usage.cached_tokens);
    figures.prompt_time = to_ms(usage.prefill_time);
  }
  const std::size_t rounds = count_rounds(answer_.parts);
  const std::vector<chat::Piece>& more = finished.message.written;
  if (!std::exchange(continues_, false)) {
    answer_.written.resize(std::max<std::size_t>(rounds, 1) - 1);
    answer_.written.push_back(more);
  } else if (answer_.written.size() == rounds && !answer_.written.back().empty()) {
    auto& written = answer_.written.back();
    written.insert(written.end(), more.begin(), more.end());
  } else {  // what was written before was not kept (the program had ended): the parts are read
    answer_.written.resize(rounds);
  }
  progress_ = {};
  is_round_running_ = false;
  round_.reset();
  round_end_ = finished;
}

void LiveAnswer::stop() {
  std::shared_ptr<chat::Turn> round;
  {
    const std::lock_guard lock(mutex_);
    ended_by_ = ended_by_.value_or(store::AnswerState::Stopped);
    round = round_;
  }
  if (round) {
    round->cancel();
  }
}

void LiveAnswer::interrupt() {
  {
    const std::lock_guard lock(mutex_);
    ended_by_ = ended_by_.value_or(store::AnswerState::Interrupted);
  }
  stop();
}

void LiveAnswer::pause() {
  const std::lock_guard lock(mutex_);
  if (round_) {
    round_->pause();
  }
}

void LiveAnswer::resume() {
  const std::lock_guard lock(mutex_);
  if (round_) {
    speed_.reset();
    round_->resume();
  }
}

void LiveAnswer::answer_now() {
  const std::lock_guard lock(mutex_);
  if (round_) {
    round_->answer_now();
  }
}

std::optional<store::AnswerState> LiveAnswer::ended_by() const {
  const std::lock_guard lock(mutex_);
  return ended_by_;
}

std::vector<store::ToolPart> LiveAnswer::open_calls() const {
  const std::lock_guard lock(mutex_);
  std::vector<store::ToolPart> out;
  for (const store::Part& part : answer_.parts) {
    const auto* call = std::get_if<store::ToolPart>(&part);
    if (call != nullptr && is_open(*call)) {
      out.push_back(*call);
    }
  }
  return out;
}

std::optional<std::pair<std::size_t, store::ToolPart>> LiveAnswer::find_call(
    std::string_view id) const {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < answer_.parts.size(); ++i) {
    const auto* call = std::get_if<store::ToolPart>(&answer_.parts[i]);
    if (call != nullptr && call->call_id == id) {
      return std::pair{i, *call};
    }
  }
  return std::nullopt;
}

void LiveAnswer::set_call(const store::ToolPart& call) {
  const std::lock_guard lock(mutex_);
  for (store::Part& part : answer_.parts) {
    auto* mine = std::get_if<store::ToolPart>(&part);
    if (mine != nullptr && mine->call_id == call.call_id) {
      *mine = call;
    }
  }
}

void LiveAnswer::set_tool_phase(std::string_view phase, std::string_view tool) {
  const std::lock_guard lock(mutex_);
  tool_phase_ = phase;
  tool_ = tool;
}

void LiveAnswer::end(store::AnswerState state, std::int64_t limit, store::AnswerError error) {
  const std::lock_guard lock(mutex_);
  close_thought();
  answer_.state = state;
  answer_.limit = limit;
  answer_.error = std::move(error);
  for (store::Part& part : answer_.parts) {
    auto* call = std::get_if<store::ToolPart>(&part);
    if (call != nullptr && is_open(*call)) {
      call->state = store::ToolState::Failed;
      call->result = "This call was not completed.";
    }
  }
}

store::Answer LiveAnswer::answer() const {
  const std::lock_guard lock(mutex_);
  return answer_;
}

}  // namespace smol::page
