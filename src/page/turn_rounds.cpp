// Turns: from round to round, with the tools between them, to the end.
#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/json.h"
#include "page/turns.h"

namespace smol::page {
namespace {

constexpr std::size_t kMostRounds = 8;
constexpr std::chrono::seconds kKeepAfter{20};  // of silence
constexpr const char* kDiskHint = "Free some space; it is tried again each second.";

store::AnswerState state_of(const chat::TurnFinished& finished) {
  switch (finished.end) {
    case chat::TurnEnd::MaxTokens:
      return finished.cut_while_thinking ? store::AnswerState::ThinkingLimit
                                         : store::AnswerState::Limit;
    case chat::TurnEnd::ContextFull:
      return store::AnswerState::Context;
    case chat::TurnEnd::Cancelled:
      return store::AnswerState::Stopped;
    case chat::TurnEnd::EndOfTurn:
    case chat::TurnEnd::StopString:
      break;
  }
  return store::AnswerState::Done;
}

// Measures a round on its way to the answer, as those of the API are.
class MeteredSink final : public chat::TurnSink {
 public:
  MeteredSink(std::shared_ptr<chat::TurnSink> sink, server::Metrics& metrics)
      : sink_(std::move(sink)), meter_(metrics) {}

  void on_progress(const chat::TurnProgress& progress) noexcept override {
    sink_->on_progress(progress);
  }

  void on_event(const chat::AnswerEvent& event) noexcept override {
    meter_.token();
    sink_->on_event(event);
  }

  void on_finished(const chat::TurnFinished& finished) noexcept override {
    if (finished.end != chat::TurnEnd::Cancelled) {
      meter_.finished(finished.usage);
    }
    sink_->on_finished(finished);
  }

  void on_failed(const Error& error) noexcept override { sink_->on_failed(error); }

 private:
  std::shared_ptr<chat::TurnSink> sink_;
  server::TurnMeter meter_;
};

store::AnswerError error_of(const Error& error) {
  if (error.code() == ErrorCode::Exhausted) {
    return {error.what(), "Try again in a moment."};
  }
  return {error.what(), ""};
}

}  // namespace

void Turns::begin_round(const LivePtr& live, chat::TurnRequest request) {
  const auto make_turn = [&](std::shared_ptr<chat::TurnSink> sink) {
    return assistant_.start(std::move(request),
                            std::make_shared<MeteredSink>(std::move(sink), metrics_));
  };
  const auto on_end = [door = door_, live] {
    const std::lock_guard lock(door->mutex);
    if (Turns* turns = door->turns) {
      turns->add_job([turns, live] { turns->go_on(live); });
    }
  };
  if (auto problem = length_problem(request, assistant_.model())) {
    return finish(live, store::AnswerState::Error, 0, std::move(*problem));
  }
  try {
    LiveAnswer::start_round(live->answer, make_turn, on_end);
  } catch (const Error& error) {
    finish(live, store::AnswerState::Error, 0, error_of(error));
  }
}

void Turns::go_on(const LivePtr& live) noexcept {
  try {
    advance(live);
  } catch (const Error& error) {
    finish(live, store::AnswerState::Error, 0, error_of(error));
  } catch (const std::exception& error) {
    finish(live, store::AnswerState::Error, 0, {error.what(), ""});
  }
}

void Turns::advance(const LivePtr& live) {
  LiveAnswer& answer = *live->answer;
  if (const auto end = answer.take_round_end()) {
    if (const auto* error = std::get_if<Error>(&*end)) {
      return finish(live, store::AnswerState::Error, 0, error_of(*error));
    }
    const auto& finished = std::get<chat::TurnFinished>(*end);
    const bool is_cancelled = finished.end == chat::TurnEnd::Cancelled;
    if (!is_cancelled && !live->wish.note.empty()) {
      return finish_summary(live, finished);
    }
    if (!is_cancelled && answer.open_calls().empty()) {
      const store::AnswerState state = state_of(finished);
      const std::size_t limit = state == store::AnswerState::Context ? assistant_.model().context
                                                                     : live->wish.answer.max_tokens;
      return finish(live, state, static_cast<std::int64_t>(limit));
    }
    if (is_cancelled && !answer.ended_by()) {
      return finish(live, store::AnswerState::Stopped);
    }
  }
  if (!answer.ended_by() && !run_tools(*live)) {
    return;
  }
  if (const auto state = answer.ended_by()) {
    return finish(live, *state);
  }
  next_round(live);
}

bool Turns::run_tools(Live& live) {
  for (store::ToolPart& call : live.answer->open_calls()) {
    const auto tool = std::ranges::find(tools_, call.name, &tools::Tool::name);
    if (tool != tools_.end() && tool->asks && call.state == store::ToolState::Running &&
        !live.allowed.contains(call.call_id)) {
      return !ask(live, std::move(call));
    }
    run_tool(live, std::move(call));
  }
  return true;
}

// Whoever sees the question can answer it, and a stop finds the turn either here or waiting.
bool Turns::ask(Live& live, store::ToolPart call) {
  const std::lock_guard lock(mutex_);
  if (live.answer->ended_by()) {
    return false;
  }
  live.waits = true;
  call.state = store::ToolState::Asking;
  live.answer->set_tool_phase("asking", call.name);
  live.answer->set_call(call);
  return true;
}

void Turns::run_tool(Live& live, store::ToolPart call) {
  live.answer->set_tool_phase("tool", call.name);
  const auto begin = Clock::now();
  try {
    const auto tool = std::ranges::find(tools_, call.name, &tools::Tool::name);
    if (tool == tools_.end()) {
      throw Error{ErrorCode::NotFound, "There is no tool of that name."};
    }
    call.result = tool->run(parse_json(call.arguments, "arguments"));
    call.state = store::ToolState::Done;
  } catch (const std::exception& error) {
    call.result = error.what();
    call.state = store::ToolState::Failed;
  }
  call.time = std::chrono::round<store::Milliseconds>(Clock::now() - begin);
  live.answer->set_call(call);
}

void Turns::next_round(const LivePtr& live) {
  const store::Turn& turn = live->answer->turn();
  if (++live->rounds > kMostRounds) {
    live->wish.tools.clear();  // a model that calls again and again is to answer now
  }
  store_.save(turn.id, live->answer->answer());
  begin_round(live, turn_request(assistant_.builder(), store_.session(turn.session),
                                 store_.messages_up_to(turn.answer), live->wish));
}

void Turns::finish(const LivePtr& live, store::AnswerState state, std::int64_t limit,
                   store::AnswerError error) noexcept {
  const store::Turn& turn = live->answer->turn();
  bool is_saved = true;
  std::optional<store::MessageId> note;
  live->answer->end(state, limit, std::move(error));
  try {
    note = save_end(*live);
  } catch (const Error& failure) {
    is_saved = failure.code() == ErrorCode::NotFound;  // its session was deleted
    if (!is_saved) {
      live->answer->end(store::AnswerState::Error, 0, {failure.what(), kDiskHint});
    }
  }
  ++n_answers_;
  const std::lock_guard lock(mutex_);
  if (!live->is_over) {
    tell_news(*live);
    listeners_.tell(turn.session, std::vector{live->answer->ended()});
    if (note) {
      tell_idle(turn.session, note);
    }
  }
  live->is_over = true;
  live->save_at = Clock::now() + kSavePeriod;
  keep_at_ = Clock::now() + kKeepAfter;
  const auto found = lives_.find(turn.session);
  if (is_saved && found != lives_.end() && found->second == live) {
    lives_.erase(found);
    queue_next(turn.session);
  }
  if (is_closing_) {
    listeners_.close(turn.session);
  } else if (state == store::AnswerState::Done) {
    titles_.want(turn.session);
  }
  wake();
}

// What has come so far; and an answer that could not be saved at its end.
void Turns::save(const LivePtr& live) noexcept {
  bool is_done = true, is_gone = false;
  try {
    store::Answer answer = live->answer->answer();
    if (live->is_over || answer != live->saved) {
      store_.save(live->answer->turn().id, answer);
      live->saved = std::move(answer);
    }
  } catch (const Error& error) {
    is_gone = error.code() == ErrorCode::NotFound;
    is_done = is_gone;
  }
  const std::lock_guard lock(mutex_);
  if (is_gone) {
    stop(live);
  }
  live->is_saving = false;
  live->save_at = Clock::now() + kSavePeriod;
  const auto found = lives_.find(live->answer->turn().session);
  if (live->is_over && is_done && found != lives_.end() && found->second == live) {
    lives_.erase(found);
    queue_next(live->answer->turn().session);
    wake();
  }
}

}  // namespace smol::page
