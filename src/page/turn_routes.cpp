#include "page/turn_routes.h"

#include <functional>
#include <utility>
#include <vector>

#include "page/message_views.h"
#include "page/session_views.h"
#include "page/turn_begin.h"
#include "page/values.h"

namespace smol::page {
namespace {

using jinja::Dict;
using jinja::Value;

// The path that the message would be the end of, below `last`.
std::vector<store::Message> path_with(const Call& call, std::optional<store::MessageId> last,
                                      const store::UserInput& input) {
  std::vector<store::Message> path;
  if (last) {
    path = call.house.store.messages_up_to(*last);
  }
  store::Message message;
  message.text = input.text;
  message.attachments = input.attachments;
  path.push_back(std::move(message));
  return path;
}

// In a new session where there is none. An empty message: the request's.
server::Reply send(const Call& call, const std::optional<std::string>& session,
                   const std::string& message) {
  House& house = call.house;
  store::Session about;
  about.settings = house.store.next_settings();
  about.date = local_date(store::SessionStore::system_time());
  if (session) {
    about = house.store.session(*session);
  }
  const bool think = call.form.has("think") ? call.form.flag("think") : about.settings.think;
  store::UserInput input =
      message.empty() ? input_of(call, think) : store::UserInput{message, {}, think};
  if (session && house.store.running_turn(*session)) {
    refuse_busy();
  }
  const TurnWish wish = wish_of(call, about.settings, think);
  const auto last = session ? house.store.last_message(*session) : std::nullopt;
  check_length(call, about, path_with(call, last, input), wish);
  check_queue(call);
  std::optional<store::Turn> turn;
  if (session) {
    turn = house.store.begin_turn(*session, input);
    if (turn && think != about.settings.think) {
      house.store.change_settings(*session, [&](store::Settings& s) { s.think = think; });
    }
  } else {
    about.settings.think = think;
    turn = house.store.begin_session({about.settings, about.date}, input);
  }
  if (!turn) {
    refuse_busy();
  }
  return answer_and_start(call, *turn, wish, [&] { return turn_fragment(call, *turn, !session); });
}

server::HttpResponse queue_fragment(const Call& call, const std::optional<store::UserInput>& queued,
                                    const std::optional<store::UserInput>& taken_back) {
  return call.html("fragments/queued",
                   {{"queued", input_value(queued)}, {"taken_back", input_value(taken_back)}});
}

// A turn whose prompt is `path`: it is begun unless it could not be answered. Then the messages of
// the session are shown, while the turn's own answer is as it was.
server::Reply show_and_start(const Call& call, const store::Session& about,
                             const std::vector<store::Message>& path, bool think,
                             const std::function<std::optional<store::Turn>()>& begin) {
  if (call.house.store.running_turn(about.id)) {
    refuse_busy();
  }
  const TurnWish wish = wish_of(call, about.settings, think);
  check_length(call, about, path, wish);
  check_queue(call);
  const auto turn = begin();
  if (!turn) {
    refuse_busy();
  }
  return answer_and_start(call, *turn, wish, [&] { return call.messages(turn->session); });
}

server::Reply act(const Call& call, TurnAction action) {
  const auto session = call.session();
  if (!session || !call.house.turns.act(*session, action)) {
    return call.note("info", "No answer is being written.");
  }
  return call.notices({});
}

// The message that the request names, or else the last one of its session.
store::Message message_of(const Call& call) {
  if (call.form.has("message_id")) {
    return call.house.store.message(call.form.id("message_id"));
  }
  const auto last = call.house.store.last_message(call.some_session());
  if (!last) {
    throw Refusal{400, "info", "There is no answer yet."};
  }
  return call.house.store.message(*last);
}

std::pair<std::size_t, store::ToolPart> call_of(const Call& call) {
  const std::string& id = call.form.text("call_id");
  if (auto live = call.house.turns.find_call(id)) {
    return std::move(*live);
  }
  if (auto found = call.house.store.find_call(id)) {
    return {found->index, std::move(found->call)};
  }
  throw Error{ErrorCode::NotFound, "call_id: expected the id of a tool's call, found another text"};
}

server::Reply tool_card(const Call& call) {
  const auto [index, tool] = call_of(call);
  return call.html("fragments/tool_card",
                   {{"call", call_value(tool)}, {"index", count_value(index)}});
}

}  // namespace

server::Reply post_chat(const Call& call) {
  const std::string& id = call.form.text("session_id");
  return send(call, id.empty() ? std::nullopt : std::optional(id), "");
}

server::Reply post_summarize(const Call& call) {
  return send(call, call.some_session(), "Summarize our conversation so far.");
}

server::Reply post_queue(const Call& call) {
  House& house = call.house;
  const store::Session about = house.store.session(call.some_session());
  const bool think = call.form.has("think") ? call.form.flag("think") : about.settings.think;
  const store::UserInput input = input_of(call, think);
  check_length(call, about, path_with(call, house.store.last_message(about.id), input),
               wish_of(call, about.settings, think));
  house.store.add_queued(about.id, input);
  house.turns.start_queued(about.id);  // the answer may have ended meanwhile
  return queue_fragment(call, house.store.queued(about.id), std::nullopt);
}

server::Reply post_unqueue(const Call& call) {
  const auto taken = call.house.store.take_queued(call.some_session());
  return queue_fragment(call, std::nullopt, call.form.flag("edit") ? taken : std::nullopt);
}

server::Reply post_regenerate(const Call& call) {
  store::SessionStore& store = call.house.store;
  const store::Message message = message_of(call);
  if (message.role == store::Role::Note) {
    throw Refusal{400, "info", "There is no answer yet."};
  }
  const store::Session about = store.session(message.session);
  const bool think = call.form.has("think") ? call.form.flag("think") : about.settings.think;
  std::vector<store::Message> path = store.messages_up_to(message.id);
  if (message.role == store::Role::Assistant) {
    path.pop_back();
  }
  return show_and_start(call, about, path, think,
                        [&] { return store.begin_regeneration(message.id, think); });
}

server::Reply post_continue(const Call& call) {
  store::SessionStore& store = call.house.store;
  const store::Message message = message_of(call);
  if (message.role != store::Role::Assistant) {
    throw Refusal{400, "info", "There is no answer to go on with."};
  }
  return show_and_start(call, store.session(message.session), store.messages_up_to(message.id),
                        message.think, [&] { return store.begin_continuation(message.id); });
}

server::Reply post_edit(const Call& call) {
  store::SessionStore& store = call.house.store;
  const store::Message message = store.message(call.form.id("message_id"));
  const store::UserInput input{call.form.text("message"), message.attachments, message.think};
  if (input.text.find_first_not_of(" \t\r\n") == std::string::npos && input.attachments.empty()) {
    throw Refusal{400, "bad", "An empty message was not sent."};
  }
  const store::Session about = store.session(message.session);
  return show_and_start(call, about, path_with(call, message.parent, input), about.settings.think,
                        [&] { return store.begin_edit(message.id, input); });
}

server::Reply post_stop(const Call& call) {
  return act(call, TurnAction::Stop);
}

server::Reply post_pause(const Call& call) {
  return act(call, TurnAction::Pause);
}

server::Reply post_resume(const Call& call) {
  return act(call, TurnAction::Resume);
}

server::Reply post_answer_now(const Call& call) {
  return act(call, TurnAction::AnswerNow);
}

server::Reply get_tool(const Call& call) {
  return tool_card(call);
}

server::Reply post_tool(const Call& call) {
  if (!call.house.turns.decide(call.form.text("call_id"), call.form.text("decision") == "allow")) {
    throw Refusal{409, "info", "This call no longer waits for your permission."};
  }
  return tool_card(call);
}

server::Reply get_stream(const Call& call) {
  const std::string_view last = call.request.headers.find("Last-Event-ID").value_or("");
  return call.house.turns.listen(call.request.rest, last);
}

}  // namespace smol::page
