#include "page/turn_routes.h"

#include <array>
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

// The path that the message would be the end of, for one that is not in the store yet.
std::vector<store::Message> path_with(const Call& call, const std::optional<store::SessionId>& id,
                                      const store::UserInput& input) {
  std::vector<store::Message> path;
  const auto last = id ? call.house.store.last_message(*id) : std::nullopt;
  if (last) {
    path = call.house.store.messages_up_to(*last);
  }
  store::Message message;
  message.text = input.text;
  message.attachments = input.attachments;
  path.push_back(std::move(message));
  return path;
}

server::HttpResponse turn_fragment(const Call& call, const store::Turn& turn, bool is_new) {
  const store::SessionStore& store = call.house.store;
  const std::array<store::Message, 2> shown{store.message(*turn.question),
                                            store.message(turn.answer)};
  Dict context;
  context.set("messages", messages_value(shown, turn.answer));
  context.set("session", session_value(store.session(turn.session)));
  context.set("is_new", Value::boolean(is_new));
  set_session_list(context, store, turn.session);
  server::HttpResponse response = call.html("fragments/turn", std::move(context));
  if (is_new) {
    response.headers.add("HX-Replace-Url", "/chat/" + turn.session);
  }
  return response;
}

server::Reply send(const Call& call, const std::string& message) {
  House& house = call.house;
  const std::string& id = call.form.text("session_id");
  const auto session = id.empty() ? std::nullopt : std::optional(id);
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
  check_length(
      turn_request(house.assistant.builder(), about, path_with(call, session, input), wish),
      house.assistant.model());
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

// The messages of the session, while the turn's own answer is as it was.
server::Reply show_and_start(const Call& call, const std::optional<store::Turn>& turn, bool think) {
  if (!turn) {
    refuse_busy();
  }
  const store::Settings settings = call.house.store.session(turn->session).settings;
  return answer_and_start(call, *turn, wish_of(call, settings, think),
                          [&] { return call.messages(turn->session); });
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
  return send(call, "");
}

server::Reply post_summarize(const Call& call) {
  return send(call, "Summarize our conversation so far.");
}

server::Reply post_queue(const Call& call) {
  House& house = call.house;
  const store::SessionId session = call.some_session();
  const bool think = call.form.has("think") ? call.form.flag("think")
                                            : house.store.session(session).settings.think;
  house.store.add_queued(session, input_of(call, think));
  house.turns.start_queued(session);  // the answer may have ended meanwhile
  return queue_fragment(call, house.store.queued(session), std::nullopt);
}

server::Reply post_unqueue(const Call& call) {
  const auto taken = call.house.store.take_queued(call.some_session());
  return queue_fragment(call, std::nullopt, call.form.flag("edit") ? taken : std::nullopt);
}

server::Reply post_regenerate(const Call& call) {
  const store::Message message = message_of(call);
  if (message.role == store::Role::Note) {
    throw Refusal{400, "info", "There is no answer yet."};
  }
  const bool think = call.form.has("think")
                         ? call.form.flag("think")
                         : call.house.store.session(message.session).settings.think;
  return show_and_start(call, call.house.store.begin_regeneration(message.id, think), think);
}

server::Reply post_continue(const Call& call) {
  const store::Message message = message_of(call);
  if (message.role != store::Role::Assistant) {
    throw Refusal{400, "info", "There is no answer to go on with."};
  }
  return show_and_start(call, call.house.store.begin_continuation(message.id), message.think);
}

server::Reply post_edit(const Call& call) {
  const store::Message message = call.house.store.message(call.form.id("message_id"));
  const store::UserInput input{call.form.text("message"), message.attachments, message.think};
  if (input.text.find_first_not_of(" \t\r\n") == std::string::npos && input.attachments.empty()) {
    throw Refusal{400, "bad", "An empty message was not sent."};
  }
  const bool think = call.house.store.session(message.session).settings.think;
  return show_and_start(call, call.house.store.begin_edit(message.id, input), think);
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
