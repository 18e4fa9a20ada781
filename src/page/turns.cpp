#include "page/turns.h"

#include <charconv>
#include <exception>
#include <utility>

#include "page/values.h"

namespace smol::page {
namespace {

constexpr std::size_t kMostJobs = 1UL << 20U;
constexpr std::chrono::milliseconds kBeat{50}, kIdleBeat{500};
constexpr std::chrono::seconds kLongWait{3600}, kEndPatience{2};

// The offset of an event's id, where it belongs to this turn.
std::optional<std::size_t> offset_of(std::string_view event_id, store::TurnId turn) {
  const std::string mine = id_text(turn) + ".";
  if (!event_id.starts_with(mine)) {
    return std::nullopt;
  }
  std::size_t offset = 0;
  const char* end = event_id.data() + event_id.size();
  const auto read = std::from_chars(event_id.data() + mine.size(), end, offset);
  return read.ec == std::errc{} && read.ptr == end ? std::optional(offset) : std::nullopt;
}

StreamEvent idle_snapshot(std::optional<store::MessageId> last) {
  return {"snapshot", {{"turn", nullptr}, {"last", last ? Json(id_text(*last)) : Json(nullptr)}}};
}

}  // namespace

Turns::Turns(chat::Assistant& assistant, store::SessionStore& store, std::vector<tools::Tool> tools)
    : assistant_(assistant),
      store_(store),
      tools_(std::move(tools)),
      titles_(assistant, store),
      door_(std::make_shared<Door>()),
      jobs_(kMostJobs) {
  door_->turns = this;
  purge_at_ = Clock::now() + store::SessionStore::kUndoTime;  // what an earlier run deleted
  beat_ = std::thread([this] { run_beat(); });
}

// Those that are not saved after a moment.
std::vector<Turns::LivePtr> Turns::interrupt_all() {
  std::vector<LivePtr> left;
  std::unique_lock lock(mutex_);
  is_closing_ = true;
  for (const auto& [session, live] : lives_) {
    live->answer->interrupt();
    if (live->waits) {
      add_job([this, live = live] { go_on(live); });
    }
  }
  changed_.wait_for(lock, kEndPatience, [this] { return lives_.empty(); });
  left.reserve(lives_.size());
  for (const auto& [session, live] : lives_) {
    left.push_back(live);
  }
  return left;
}

Turns::~Turns() {
  titles_.give_way();
  const std::vector<LivePtr> left = interrupt_all();
  for (const LivePtr& live : left) {
    finish(live, store::AnswerState::Interrupted);
  }
  {
    const std::lock_guard door(door_->mutex);
    door_->turns = nullptr;
  }
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    for (const store::SessionId& session : listeners_.sessions()) {
      listeners_.close(session);
    }
  }
  changed_.notify_all();
  beat_.join();
}

void Turns::add_job(std::function<void()> job) {
  jobs_.add(std::move(job));
}

Turns::LivePtr Turns::find(const store::SessionId& session) const {
  const auto found = lives_.find(session);
  return found == lives_.end() || found->second->is_over ? nullptr : found->second;
}

void Turns::tell_news(Live& live) {
  listeners_.tell(live.answer->turn().session, live.answer->news());
}

bool Turns::act(const store::SessionId& session, TurnAction action) {
  const std::lock_guard lock(mutex_);
  const LivePtr live = find(session);
  if (live == nullptr) {
    return false;
  }
  switch (action) {
    case TurnAction::Stop:
      live->answer->stop();
      if (live->waits) {
        add_job([this, live] { go_on(live); });
      }
      break;
    case TurnAction::Pause:
      live->answer->pause();
      break;
    case TurnAction::Resume:
      live->answer->resume();
      break;
    case TurnAction::AnswerNow:
      live->answer->answer_now();
      break;
  }
  return true;
}

std::optional<RunningTurn> Turns::running(const store::SessionId& session) const {
  const std::lock_guard lock(mutex_);
  const LivePtr live = find(session);
  if (live == nullptr) {
    return std::nullopt;
  }
  const store::Turn& turn = live->answer->turn();
  return RunningTurn{turn.id, turn.answer, live->answer->phase()};
}

std::optional<std::pair<std::size_t, store::ToolPart>> Turns::find_call(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [session, live] : lives_) {
    if (auto found = live->answer->find_call(id)) {
      return found;
    }
  }
  return std::nullopt;
}

bool Turns::decide(std::string_view call_id, bool allows) {
  const std::lock_guard lock(mutex_);
  for (const auto& [session, live] : lives_) {
    auto found = live->answer->find_call(call_id);
    if (found && live->waits && found->second.state == store::ToolState::Asking) {
      if (allows) {
        live->allowed.insert(std::string(call_id));
      }
      found->second.state = allows ? store::ToolState::Running : store::ToolState::Denied;
      live->answer->set_call(found->second);
      live->waits = false;
      add_job([this, live = live] { go_on(live); });
      return true;
    }
  }
  return false;
}

std::shared_ptr<server::LiveReply> Turns::listen(const store::SessionId& session,
                                                 std::string_view last_event_id) {
  const std::optional<store::MessageId> last = store_.last_message(session);
  const std::lock_guard lock(mutex_);
  const LivePtr live = find(session);
  std::vector<StreamEvent> first;
  if (live == nullptr) {
    first.push_back(idle_snapshot(last));
  } else {
    tell_news(*live);  // so that all have heard the same
    const auto offset = offset_of(last_event_id, live->answer->turn().id);
    auto missed = offset ? live->answer->since(*offset) : std::nullopt;
    first = missed ? std::move(*missed) : std::vector{live->answer->snapshot()};
  }
  auto reply = listeners_.add(session, first);
  if (is_closing_ && live == nullptr) {
    listeners_.close(session);
  }
  return reply;
}

void Turns::tell_idle(const store::SessionId& session, std::optional<store::MessageId> last) {
  listeners_.tell(session, std::vector{idle_snapshot(last)});
}

void Turns::tell_changed(const store::SessionId& session) {
  const std::optional<store::MessageId> last = store_.last_message(session);
  const std::lock_guard lock(mutex_);
  if (find(session) == nullptr) {
    tell_idle(session, last);
  }
}

void Turns::drop(const store::SessionId& session) {
  act(session, TurnAction::Stop);
  const std::lock_guard lock(mutex_);
  listeners_.close(session);
}

void Turns::purge_later() {
  {
    const std::lock_guard lock(mutex_);
    const auto at = Clock::now() + store::SessionStore::kUndoTime + kSavePeriod;
    purge_at_ = purge_at_.value_or(at);
    is_woken_ = true;
  }
  changed_.notify_all();
}

void Turns::close() {
  const std::lock_guard lock(mutex_);
  is_closing_ = true;
  for (const store::SessionId& session : listeners_.sessions()) {
    if (find(session) == nullptr) {
      listeners_.close(session);
    }
  }
}

TurnWish Turns::wish(const store::Settings& settings, bool think) const {
  TurnWish wish{answer_options(answer_fields(settings), assistant_.model()), {}, think};
  if (settings.tools) {
    for (const tools::Tool& tool : tools_) {
      wish.tools.push_back(tool.spec);
    }
  }
  return wish;
}

void Turns::run_beat() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    is_woken_ = false;
    const Clock::duration quiet = beat(Clock::now());
    changed_.wait_for(lock, quiet, [this] { return ends_ || is_woken_; });
  }
}

void Turns::purge() noexcept {
  bool again = true;
  try {
    again = store_.purge();  // others may have been deleted meanwhile
  } catch (const std::exception&) {
    // the disk may be full only for now
  }
  if (again) {
    purge_later();
  }
}

// Requires the mutex.
Turns::Clock::duration Turns::beat(Clock::time_point now) {
  beat_turns(now);
  if (purge_at_ && now >= *purge_at_) {
    purge_at_.reset();
    add_job([this] { purge(); });
  }
  if (!lives_.empty()) {
    return kBeat;
  }
  if (titles_.waits()) {
    add_job([this] { titles_.make_one(); });
    return kIdleBeat;
  }
  return purge_at_ ? *purge_at_ - now : Clock::duration(kLongWait);
}

void Turns::beat_turns(Clock::time_point now) {
  for (const auto& [session, live] : lives_) {
    if (!live->is_over) {
      tell_news(*live);
    }
    if (now >= live->save_at && !live->is_saving) {
      live->is_saving = true;
      add_job([this, live = live] { save(live); });
    }
  }
}

}  // namespace smol::page
