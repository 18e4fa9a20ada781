// The turns of all sessions while they run: they belong to the server, not to who listens. Each is
// made by the assistant, saved once a second and at its end, and told to its session's listeners at
// most twenty times a second. Tools are run here, and asked for. While nothing else is to be done,
// titles are made, what was deleted is removed, and what was computed is kept for the next run.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "chat/assistant.h"
#include "page/kept_sessions.h"
#include "page/listeners.h"
#include "page/live_answer.h"
#include "page/prompts.h"
#include "page/titles.h"
#include "server/metrics.h"
#include "server/task_queue.h"
#include "store/session_store.h"
#include "tools/tool.h"

namespace smol::page {

struct RunningTurn {
  store::TurnId id = 0;
  store::MessageId message = 0;
  std::string phase;
};

enum class TurnAction { Stop, Pause, Resume, AnswerNow };

// Any thread. What it is given must outlive it.
class Turns {
 public:
  Turns(chat::Assistant& assistant, store::SessionStore& store, std::vector<tools::Tool> tools,
        server::Metrics& metrics, KeptFile kept);
  // As close(): waits until all is done, or its time is over; streams end.
  ~Turns();
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // Starts a turn that the store has begun. What goes wrong from here on is its answer's error.
  void start(const store::Turn& turn, TurnWish wish);
  // Sends the session's queued message, if there is one and no turn runs. The end of a turn does
  // the same.
  void start_queued(const store::SessionId& session);

  // False: no turn runs in the session.
  bool act(const store::SessionId& session, TurnAction action);
  std::optional<RunningTurn> running(const store::SessionId& session) const;
  // A call of a running turn, with its place among the parts.
  std::optional<std::pair<std::size_t, store::ToolPart>> find_call(std::string_view id) const;
  // A person's answer to a call that asks. False: none does by that id.
  bool decide(std::string_view call_id, bool allows);

  // The events of a session. Throws Error{NotFound} for no such session.
  std::shared_ptr<server::LiveReply> listen(const store::SessionId& session,
                                            std::string_view last_event_id);
  // The messages of a session without a running turn changed: its open pages fetch them.
  void tell_changed(const store::SessionId& session);
  // The session was deleted: its turn is stopped and its streams end.
  void drop(const store::SessionId& session);
  // Something was deleted: once it can no longer be brought back it is removed from the files.
  void purge_later();
  // The server ends: no stream but those of running turns, which get `grace`, are then cut and
  // marked as interrupted, and what was computed is kept, within a second more. Returns at once.
  void close(std::chrono::milliseconds grace);

  // How an answer is to be made where only the session's settings say so.
  TurnWish wish(const store::Settings& settings, bool think) const;

  // Answers that ended since the start.
  std::size_t answers() const noexcept { return n_answers_; }

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::seconds kSavePeriod{1};

  struct Live {
    std::shared_ptr<LiveAnswer> answer;
    TurnWish wish;
    std::size_t rounds = 1;
    std::set<std::string> allowed;  // calls, by a person
    store::Answer saved;            // what the store has
    Clock::time_point save_at{};
    bool is_saving = false;
    bool waits = false;      // for a person
    bool is_paused = false;  // is to be
    bool is_cut = false;     // the server ends
    bool is_over = false;    // ended, perhaps not saved yet
  };

  using LivePtr = std::shared_ptr<Live>;

  // Lets the engine's thread in only while this object lives.
  struct Door {
    std::mutex mutex;
    Turns* turns;
  };

  void add_job(std::function<void()> job);
  LivePtr find(const store::SessionId& session) const;  // requires the mutex
  void tell_news(Live& live);                           // the same
  // The same: no turn runs, and this is the last message.
  void tell_idle(const store::SessionId& session, std::optional<store::MessageId> last);

  LiveAnswer::Begin begin_of(const store::Turn& turn) const;
  void queue_next(const store::SessionId& session);
  void begin_round(const LivePtr& live, chat::TurnRequest request);
  void go_on(const LivePtr& live) noexcept;
  void advance(const LivePtr& live);
  // False: a person is to decide first.
  bool run_tools(Live& live);
  // False: the turn is to end.
  bool ask(Live& live, store::ToolPart call);
  void run_tool(Live& live, store::ToolPart call);
  void next_round(const LivePtr& live);
  // The end of a summary that is to take the place of what was said.
  void finish_summary(const LivePtr& live, const chat::TurnFinished& finished);
  // Saves an answer that has ended. The note that stands below it then, if it makes one.
  std::optional<store::MessageId> save_end(const Live& live);
  void finish(const LivePtr& live, store::AnswerState state, std::int64_t limit = 0,
              store::AnswerError error = {}) noexcept;
  void save(const LivePtr& live) noexcept;

  std::vector<LivePtr> wait_for_end();
  void purge() noexcept;
  void keep() noexcept;
  bool has_time() const;
  void run_beat();
  // The rest require the mutex. What is due, and how long nothing else will be.
  Clock::duration beat(Clock::time_point now);
  Clock::duration beat_chores(Clock::time_point now);
  void beat_turns(Clock::time_point now);
  void wake();
  void stop(const LivePtr& live);
  void cut(const LivePtr& live);
  static bool stands_still(const Live& live);
  static bool rests(const Live& live);

  chat::Assistant& assistant_;
  store::SessionStore& store_;
  const std::vector<tools::Tool> tools_;
  server::Metrics& metrics_;
  Titles titles_;
  const KeptSessions kept_;
  const std::shared_ptr<Door> door_;
  std::atomic<std::size_t> n_answers_{0};

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // for the beat, and who waits for the end
  std::map<store::SessionId, LivePtr> lives_;
  Listeners listeners_;
  std::optional<Clock::time_point> purge_at_, keep_at_;
  Clock::time_point last_over_at_;         // the time for undo, of what was deleted last
  Clock::time_point cut_at_{}, end_at_{};  // once it is closing
  bool is_woken_ = false, is_closing_ = false, is_keeping_ = false, ends_ = false;

  server::TaskQueue jobs_;
  server::TaskQueue chores_;  // what takes its time: of files
  std::thread beat_;
};

}  // namespace smol::page
