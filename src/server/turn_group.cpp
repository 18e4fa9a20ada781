#include "server/turn_group.h"

#include <exception>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/json.h"

namespace smol::server {
namespace {

// What went wrong after a turn had been started is no fault of the request any more.
ApiError late_error(const Error& error) {
  ApiError out = api_error_of(error);
  if (error.code() == ErrorCode::Exhausted) {
    out.status = 503;
    out.type = "server_error";
    out.code = "overloaded";
  }
  return out;
}

class TurnGroup : public std::enable_shared_from_this<TurnGroup> {
 public:
  TurnGroup(std::size_t n_turns, Metrics& metrics, std::unique_ptr<const AnswerFormat> format,
            GroupOptions options)
      : format_(std::move(format)),
        options_(options),
        reply_(std::make_shared<LiveReply>()),
        choices_(n_turns),
        meters_(n_turns, TurnMeter(metrics)) {
    if (options_.stream) {
      stream_.emplace(reply_, SseHeartbeat::Comment);
      for (std::size_t i = 0; i < n_turns; ++i) {
        send(format_->opening(i));
      }
    }
  }

  // Throws what the assistant throws.
  std::shared_ptr<LiveReply> start(chat::Assistant& assistant,
                                   std::vector<chat::TurnRequest> requests);

  void take(std::size_t index, const chat::AnswerEvent& event) noexcept;
  void finish(std::size_t index, const chat::TurnFinished& finished) noexcept;
  // The other turns go on until the reply has been sent: a sink must not cancel.
  void fail(const ApiError& error) noexcept;

 private:
  void send(const Json& chunk);
  void end();
  void cancel_all() noexcept;

  const std::unique_ptr<const AnswerFormat> format_;
  const GroupOptions options_;
  const std::shared_ptr<LiveReply> reply_;
  std::optional<SseStream> stream_;
  std::mutex mutex_;
  std::vector<Choice> choices_;
  std::vector<TurnMeter> meters_;
  std::size_t n_finished_ = 0;
  bool ended_ = false;
  std::mutex turns_mutex_;
  std::vector<std::shared_ptr<chat::Turn>> turns_;
};

// One turn's part of the group.
class GroupSink : public chat::TurnSink {
 public:
  GroupSink(std::shared_ptr<TurnGroup> group, std::size_t index)
      : group_(std::move(group)), index_(index) {}

  void on_progress(const chat::TurnProgress& /*progress*/) noexcept override {}

  void on_event(const chat::AnswerEvent& event) noexcept override { group_->take(index_, event); }

  void on_finished(const chat::TurnFinished& finished) noexcept override {
    group_->finish(index_, finished);
  }

  void on_failed(const Error& error) noexcept override { group_->fail(late_error(error)); }

 private:
  std::shared_ptr<TurnGroup> group_;
  std::size_t index_;
};

void TurnGroup::cancel_all() noexcept {
  const std::lock_guard lock(turns_mutex_);
  for (const auto& turn : turns_) {
    turn->cancel();
  }
}

std::shared_ptr<LiveReply> TurnGroup::start(chat::Assistant& assistant,
                                            std::vector<chat::TurnRequest> requests) {
  try {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      auto turn = assistant.start(std::move(requests[i]),
                                  std::make_shared<GroupSink>(shared_from_this(), i));
      const std::lock_guard lock(turns_mutex_);
      turns_.push_back(std::move(turn));
    }
  } catch (...) {
    cancel_all();
    throw;
  }
  // Weak: the reply belongs to the group.
  reply_->set_cancel_action([weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      self->cancel_all();
    }
  });
  if (stream_) {
    stream_->open();
  }
  return reply_;
}

void TurnGroup::send(const Json& chunk) {
  if (!chunk.is_null()) {
    stream_->send({.data = dumped(chunk)});
  }
}

void TurnGroup::take(std::size_t index, const chat::AnswerEvent& event) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    Choice& choice = choices_[index];
    std::visit(
        [&choice](const auto& one) {
          if constexpr (std::is_same_v<std::decay_t<decltype(one)>, chat::TokenScore>) {
            choice.scores.push_back(one);
          } else {
            choice.output.add(one);
          }
        },
        event);
    if (!std::holds_alternative<chat::TokenScore>(event)) {
      meters_[index].token();
    }
    if (stream_ && !ended_) {
      send(format_->delta(index, choice, event));
    }
  } catch (const std::exception& error) {
    fail({.status = 500, .message = error.what(), .type = "server_error"});
  }
}

void TurnGroup::finish(std::size_t index, const chat::TurnFinished& finished) noexcept {
  if (finished.end == chat::TurnEnd::Cancelled) {
    fail(cancelled_error());
    return;
  }
  try {
    const std::lock_guard lock(mutex_);
    Choice& choice = choices_[index];
    choice.finished = finished;
    meters_[index].finished(finished.usage);
    if (stream_ && !ended_) {
      send(format_->closing(index, choice));
    }
    if (++n_finished_ == choices_.size() && !ended_) {
      end();
    }
  } catch (const std::exception& error) {
    fail({.status = 500, .message = error.what(), .type = "server_error"});
  }
}

void TurnGroup::end() {
  ended_ = true;
  if (!stream_) {
    reply_->respond(json_response(200, format_->whole(choices_)));
    return;
  }
  if (options_.include_usage) {
    std::vector<chat::TurnUsage> usages;
    for (const Choice& choice : choices_) {
      usages.push_back(choice.finished->usage);
    }
    send(format_->usage(usages));
  }
  stream_->send({.data = "[DONE]"});
  stream_->close();
}

void TurnGroup::fail(const ApiError& error) noexcept {
  const std::lock_guard lock(mutex_);
  if (std::exchange(ended_, true)) {
    return;
  }
  if (stream_) {
    stream_->send({.data = dumped(to_json(error))});
    stream_->close();
  } else {
    reply_->respond(to_response(error));
  }
}

}  // namespace

Reply start_turns(chat::Assistant& assistant, Metrics& metrics,
                  std::vector<chat::TurnRequest> requests,
                  std::unique_ptr<const AnswerFormat> format, GroupOptions options) {
  const auto group =
      std::make_shared<TurnGroup>(requests.size(), metrics, std::move(format), options);
  return group->start(assistant, std::move(requests));
}

}  // namespace smol::server
