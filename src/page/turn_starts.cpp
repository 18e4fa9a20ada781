// Turns: how one begins.
#include <exception>
#include <utility>

#include "page/turns.h"

namespace smol::page {

// The answer as far as it has come, and what the events call it.
LiveAnswer::Begin Turns::begin_of(const store::Turn& turn) const {
  LiveAnswer::Begin begin;
  begin.turn = turn;
  store::Message message = store_.message(turn.answer);
  begin.parent = turn.question ? store_.message(*turn.question).parent : message.parent;
  begin.answer = std::move(message.answer);
  for (store::Part& part : begin.answer.parts) {  // calls that an earlier run did not complete
    auto* tool = std::get_if<store::ToolPart>(&part);
    if (tool != nullptr && store::is_open(tool->state)) {
      tool->state = store::ToolState::Failed;
      tool->result = "This call was not completed.";
    }
  }
  begin.context_max = assistant_.model().context;
  return begin;
}

void Turns::start(const store::Turn& turn, TurnWish wish) {
  titles_.give_way();
  auto live = std::make_shared<Live>();
  chat::TurnRequest request;
  try {
    live->answer = std::make_shared<LiveAnswer>(begin_of(turn));
    request = turn_request(assistant_.builder(), store_.session(turn.session),
                           store_.messages_up_to(turn.answer), wish);
  } catch (const Error& error) {  // a prompt that the template does not take
    store::Answer answer = store_.message(turn.answer).answer;
    answer.state = store::AnswerState::Error;
    answer.error = {error.what(), ""};
    store_.save(turn.id, answer);
    tell_changed(turn.session);
    return;
  }
  live->wish = std::move(wish);
  live->save_at = Clock::now() + kSavePeriod;
  {
    const std::lock_guard lock(mutex_);
    lives_[turn.session] = live;
    listeners_.tell(turn.session, std::vector{live->answer->begun()});
    wake();
  }
  begin_round(live, std::move(request));
}

void Turns::start_queued(const store::SessionId& session) {
  if (const auto turn = store_.begin_queued_turn(session)) {
    const bool think = store_.message(*turn->question).think;
    start(*turn, wish(store_.session(session).settings, think));
  }
}

// Requires the mutex.
void Turns::queue_next(const store::SessionId& session) {
  if (is_closing_) {
    return;
  }
  add_job([this, session] {
    try {
      start_queued(session);
    } catch (const std::exception&) {
      // The session is gone, or the disk is full: the message stays in the queue.
    }
  });
}

}  // namespace smol::page
