// POST /api/compact: a summary takes the place of what was said, for the model.
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "chat/blocking_turn.h"
#include "page/message_routes.h"
#include "page/prompts.h"
#include "server/api_error.h"
#include "store/prompt_messages.h"

namespace smol::page {
namespace {

constexpr std::size_t kSummaryTokens = 400;

std::string summary_of(House& house, const store::SessionId& session, const std::stop_token& stop) {
  const store::Session about = house.store.session(session);
  std::vector<chat::Message> messages = store::prompt_messages(
      about.settings.system, house.store.messages_up_to(*house.store.last_message(session)));
  chat::Message question;
  question.content =
      "Summarize our conversation so far in one paragraph: what was asked, what was found, what is "
      "still open. It will take the place of the conversation.";
  messages.push_back(std::move(question));
  chat::TurnOptions options;
  options.prompt.think = chat::ThinkMode::Off;
  options.prompt.now = chat::local_now();
  options.answer = answer_options(about.settings, house.assistant.model());
  options.answer.max_tokens = kSummaryTokens;
  return chat::reply(house.assistant, messages, options, {}, stop).message.content;
}

}  // namespace

server::Reply post_compact(const Call& call) {
  House& house = call.house;
  const store::SessionId session = call.some_session();
  if (!house.store.last_message(session)) {
    throw Refusal{400, "info", "There is nothing to replace yet."};
  }
  // The model takes its time: the answer comes when there is a summary, the handler's thread goes.
  auto reply = std::make_shared<server::LiveReply>();
  std::stop_source stop;
  reply->set_cancel_action([stop]() mutable { stop.request_stop(); });
  house.helpers.add([&house, session, reply, stop, request = call.request] {
    const Form form(request);
    const Call again{house, request, form};
    try {
      const std::string summary = summary_of(house, session, stop.get_token());
      if (!stop.stop_requested() && !summary.empty() &&
          house.store.add_note(session, "What stands above was replaced by a summary.", summary)) {
        reply->respond(again.messages(session));
        return;
      }
      const Notice notice{"warn", "The conversation was not replaced.", "Try again later."};
      reply->respond(again.notices({&notice, 1}, 409));
    } catch (const std::exception& error) {
      const Notice notice{"bad", error.what()};
      reply->respond(again.notices({&notice, 1}, 400));
    }
  });
  return reply;
}

}  // namespace smol::page
