// An answer while it is made: what the engine's thread has said of it, and what of that the page's
// listeners have heard.
//
// The id of an event is "turn.offset", where the offset counts the bytes of text and thoughts in
// the whole answer: it means the same after a reconnect, and after a restart.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "chat/assistant.h"
#include "page/speed_gauge.h"
#include "store/types.h"

namespace smol::page {

struct StreamEvent {
  std::string_view name;  // docs/page.md, "Events"
  Json data;
  std::string id = {};
};

// How a round (what the model writes in one go) ended.
using RoundEnd = std::variant<chat::TurnFinished, Error>;

// Any thread.
class LiveAnswer {
 public:
  struct Begin {
    store::Turn turn;
    std::optional<store::MessageId> parent;  // the message before the turn's messages
    store::Answer answer;                    // what there is of it: it goes on
    std::size_t context_max = 0;
  };

  explicit LiveAnswer(Begin begin);

  const store::Turn& turn() const noexcept { return turn_; }

  // --- A round. `make_turn` starts it with a sink that tells this answer; on_end is called when it
  // has ended, on the engine's thread. Throws what `make_turn` throws.
  using MakeTurn = std::function<std::shared_ptr<chat::Turn>(std::shared_ptr<chat::TurnSink>)>;
  static void start_round(const std::shared_ptr<LiveAnswer>& self, const MakeTurn& make_turn,
                          std::function<void()> on_end);
  // How the last round ended, once.
  std::optional<RoundEnd> take_round_end();

  // --- What a person wants. stop() and interrupt() also end what is between rounds: ended_by().
  void stop();
  void interrupt();  // the program ends
  void pause();
  void resume();
  void answer_now();
  // Stopped or Interrupted, once one of them was wanted.
  std::optional<store::AnswerState> ended_by() const;

  // --- Tool calls
  std::vector<store::ToolPart> open_calls() const;  // Running or Asking
  std::optional<std::pair<std::size_t, store::ToolPart>> find_call(std::string_view id) const;
  void set_call(const store::ToolPart& call);
  // Another phase than the engine's: "asking" or "tool", with the tool's name; "" is the engine's.
  void set_tool_phase(std::string_view phase, std::string_view tool);

  // --- The end
  void end(store::AnswerState state, std::int64_t limit, store::AnswerError error);
  store::Answer answer() const;
  std::string phase() const;

  // --- For listeners. `turn` began; what has come since the last news; all of it, for one who has
  // heard nothing; what follows an offset; how it ended.
  StreamEvent begun() const;
  std::vector<StreamEvent> news();
  StreamEvent snapshot() const;
  // Nothing: the answer is shorter.
  std::optional<std::vector<StreamEvent>> since(std::size_t offset) const;
  StreamEvent ended() const;

 private:
  class Sink;
  using Clock = std::chrono::steady_clock;

  // All require the mutex.
  void take(const chat::AnswerEvent& event);
  void add_thought(const std::string& text);
  void add_text(const std::string& text);
  void close_thought();
  void finish_round(const chat::TurnFinished& finished);
  StreamEvent event(std::string_view name, const Json& data) const;
  void add_text_news(std::size_t part, std::size_t from, std::size_t before,
                     std::vector<StreamEvent>& out) const;
  void add_tool_news(std::size_t part, std::vector<StreamEvent>& out) const;
  Json progress_data() const;
  std::int64_t tokens() const;
  std::string id_at(std::size_t offset) const;

  const store::Turn turn_;
  const std::optional<store::MessageId> parent_;
  const std::size_t context_max_;

  mutable std::mutex mutex_;
  store::Answer answer_;
  std::shared_ptr<chat::Turn> round_;  // while it runs
  bool is_round_running_ = false;
  std::optional<RoundEnd> round_end_;
  chat::TurnProgress progress_;
  bool continues_ = false;                  // the first round goes on with what was written before
  std::int64_t thought_tokens_before_ = 0;  // of the open thought, when its round began
  std::optional<Clock::time_point> thought_began_;
  store::Milliseconds thought_before_{0};
  std::optional<store::AnswerState> ended_by_;
  std::string tool_phase_, tool_;
  SpeedGauge speed_;

  std::vector<std::size_t> heard_;              // bytes of each part
  std::vector<store::ToolState> heard_states_;  // of each part that is a tool
  Json heard_progress_;
  Clock::time_point progress_at_{};
};

}  // namespace smol::page
