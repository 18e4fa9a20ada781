#include "page/turns.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <utility>

#include "page/values.h"

namespace smol::page {
namespace {

constexpr std::size_t kMostJobs = 1UL << 20U;
constexpr std::chrono::milliseconds kBeat{50}, kIdleBeat{500};
// When what is deleted now can be removed.
constexpr auto kPurgePeriod = store::SessionStore::kUndoTime + std::chrono::seconds(1);
constexpr std::chrono::seconds kLongWait{3600}, kEndPatience{1};

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

Turns::Turns(chat::Assistant& assistant, store::SessionStore& store, std::vector<tools::Tool> tools,
             server::Metrics& metrics, KeptFile kept)
    : assistant_(assistant),
      store_(store),
      tools_(std::move(tools)),
      metrics_(metrics),
      titles_(assistant, store),
      kept_(assistant, store, std::move(kept),
            [this](const store::Settings& settings, bool think) { return wish(settings, think); }),
      door_(std::make_shared<Door>()),
      jobs_(kMostJobs),
      chores_(kMostJobs) {
  door_->turns = this;
  kept_.restore();
  purge_at_ = Clock::now() + store::SessionStore::kUndoTime;  // what an earlier run deleted
  beat_ = std::thread([this] { run_beat(); });
}

// Those that are not saved in time.
std::vector<Turns::LivePtr> Turns::wait_for_end() {
  std::vector<LivePtr> left;
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, end_at_,
                      [this] { return lives_.empty() && !keep_at_ && !is_keeping_; });
  left.reserve(lives_.size());
  for (const auto& [session, live] : lives_) {
    left.push_back(live);
  }
  return left;
}

Turns::~Turns() {
  close(std::chrono::milliseconds{0});
  for (const LivePtr& live : wait_for_end()) {
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
      stop(live);
      break;
    case TurnAction::Pause:
      live->is_paused = true;
      live->answer->pause();
      break;
    case TurnAction::Resume:
      live->is_paused = false;
      live->answer->resume();
      break;
    case TurnAction::AnswerNow:
      live->answer->answer_now();
      break;
  }
  wake();
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
      wake();
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
  const std::lock_guard lock(mutex_);
  last_over_at_ = Clock::now() + kPurgePeriod;
  purge_at_ = purge_at_.value_or(last_over_at_);
  wake();
}

void Turns::close(std::chrono::milliseconds grace) {
  titles_.give_way();
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_closing_, true)) {
    return;
  }
  cut_at_ = Clock::now() + grace;
  end_at_ = cut_at_ + kEndPatience;
  wake();
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

// Before the store forgets that there was something: what a kill leaves here, the next run removes.
void Turns::purge() noexcept {
  bool again = true;
  try {
    if (kept_.forget(store_.deletions(), [this] { return has_time(); })) {
      again = store_.purge();  // others may have been deleted meanwhile
    }
  } catch (const std::exception&) {
    // the disk may be full only for now
  }
  if (again) {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    purge_at_ = last_over_at_ > now ? last_over_at_ : now + kPurgePeriod;
    wake();
  }
}

void Turns::keep() noexcept {
  kept_.save([this] { return has_time(); });
  const std::lock_guard lock(mutex_);
  is_keeping_ = false;
  wake();
}

bool Turns::has_time() const {
  const std::lock_guard lock(mutex_);
  return !is_closing_ || Clock::now() < end_at_;
}

void Turns::wake() {
  is_woken_ = true;
  changed_.notify_all();
}

void Turns::stop(const LivePtr& live) {
  live->answer->stop();
  if (std::exchange(live->waits, false)) {
    add_job([this, live] { go_on(live); });
  }
}

void Turns::cut(const LivePtr& live) {
  live->is_cut = true;
  live->answer->interrupt();
  stop(live);
}

// Until a person acts.
bool Turns::stands_still(const Live& live) {
  return live.waits || (live.is_paused && live.answer->phase() == "paused");
}

// The same, and all of it is saved.
bool Turns::rests(const Live& live) {
  return stands_still(live) && !live.is_over && !live.is_saving &&
         live.answer->answer() == live.saved;
}

Turns::Clock::duration Turns::beat(Clock::time_point now) {
  beat_turns(now);
  const Clock::duration quiet = beat_chores(now);
  const bool all_rest =
      std::ranges::all_of(lives_, [](const auto& entry) { return rests(*entry.second); });
  if (!all_rest || (is_closing_ && !lives_.empty())) {
    return kBeat;
  }
  if (lives_.empty() && titles_.waits() && !is_closing_) {
    add_job([this] { titles_.make_one(); });
    return kIdleBeat;
  }
  return quiet;
}

Turns::Clock::duration Turns::beat_chores(Clock::time_point now) {
  Clock::duration quiet = kLongWait;
  if (purge_at_ && now >= *purge_at_) {
    purge_at_.reset();
    chores_.add([this] { purge(); });
  } else if (purge_at_) {
    quiet = *purge_at_ - now;
  }
  if (keep_at_ && lives_.empty() && (is_closing_ || now >= *keep_at_)) {
    keep_at_.reset();
    is_keeping_ = true;
    chores_.add([this] { keep(); });
  } else if (keep_at_ && lives_.empty()) {
    quiet = std::min(quiet, *keep_at_ - now);
  }
  return quiet;
}

void Turns::beat_turns(Clock::time_point now) {
  for (const auto& [session, live] : lives_) {
    if (!live->is_over) {
      tell_news(*live);
    }
    if (is_closing_ && !live->is_cut && (now >= cut_at_ || stands_still(*live))) {
      cut(live);
    }
    if (now >= live->save_at && !live->is_saving) {
      live->is_saving = true;
      add_job([this, live = live] { save(live); });
    }
  }
}

}  // namespace smol::page
