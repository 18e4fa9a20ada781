#include "chat/blocking_turn.h"

#include <memory>
#include <utility>
#include <variant>

#include "base/mailbox.h"

namespace smol::chat {
namespace {

using News = std::variant<TurnProgress, AnswerEvent, TurnFinished, Error>;

// Hands all news of a turn to the thread that waits.
class MailSink final : public TurnSink {
 public:
  void on_progress(const TurnProgress& progress) noexcept override { mail.push(progress); }

  void on_event(const AnswerEvent& event) noexcept override { mail.push(event); }

  void on_finished(const TurnFinished& finished) noexcept override { mail.push(finished); }

  void on_failed(const Error& error) noexcept override { mail.push(error); }

  Mailbox<News> mail;
};

std::size_t count_calls(std::span<const Message> history) {
  std::size_t count = 0;
  for (const Message& message : history) {
    count += message.tool_calls.size();
  }
  return count;
}

// Cancels the turn unless it was heard to its end.
class CancelUnlessEnded {
 public:
  explicit CancelUnlessEnded(Turn& turn) : turn_(turn) {}

  ~CancelUnlessEnded() { turn_.cancel(); }

  CancelUnlessEnded(const CancelUnlessEnded&) = delete;
  CancelUnlessEnded& operator=(const CancelUnlessEnded&) = delete;

 private:
  Turn& turn_;
};

}  // namespace

TurnFinished reply(Assistant& assistant, std::span<const Message> history,
                   const TurnOptions& options, const EventSink& on_event,
                   const std::stop_token& stop, const ProgressSink& on_progress) {
  TurnRequest request;
  request.prompt = assistant.builder().build(history, options.prompt);
  request.options = options.prompt;
  request.answer = options.answer;
  request.n_calls = count_calls(history);
  const auto sink = std::make_shared<MailSink>();
  const std::shared_ptr<Turn> turn = assistant.start(std::move(request), sink);
  const CancelUnlessEnded cancel(*turn);
  const std::stop_callback on_stop(stop, [&turn] { turn->cancel(); });
  while (true) {
    const News news = sink->mail.pop();
    if (const auto* progress = std::get_if<TurnProgress>(&news)) {
      if (on_progress) {
        on_progress(*progress);
      }
    } else if (const auto* event = std::get_if<AnswerEvent>(&news)) {
      if (on_event) {
        on_event(*event);
      }
    } else if (const auto* finished = std::get_if<TurnFinished>(&news)) {
      return *finished;
    } else {
      throw std::get<Error>(news);
    }
  }
}

}  // namespace smol::chat
