#include "page/message_routes.h"

#include <array>
#include <utility>
#include <vector>

#include "page/message_views.h"
#include "page/prompts.h"
#include "page/session_views.h"
#include "page/values.h"
#include "server/api_error.h"
#include "store/prompt_messages.h"

namespace smol::page {
namespace {

using jinja::Dict;
using jinja::List;
using jinja::Value;

struct Starter {
  std::string_view title, text;
};

constexpr std::array<Starter, 4> kStarters{
    {{"Explain", "Explain how a hash map works, with a small example."},
     {"Write", "Write a friendly mail that moves a meeting to Thursday."},
     {"Plan", "Plan three days in Lisbon for someone who likes trams and tiles."},
     {"Code", "Write a Python function that checks a sudoku grid."}}};

Value starters_value() {
  List out;
  for (const Starter& starter : kStarters) {
    out.push_back(
        Value::dict({{"title", text_value(starter.title)}, {"text", text_value(starter.text)}}));
  }
  return Value::list(std::move(out));
}

Value price_value(const Price& price) {
  return Value::dict({{"tokens", count_value(price.tokens)},
                      {"total", count_value(price.total)},
                      {"seconds", Value::number(price.seconds)}});
}

Price price_of_path(const Call& call, const store::SessionId& session,
                    const std::vector<store::Message>& path, bool think) {
  const store::Session about = call.house.store.session(session);
  if (store::prompt_messages(about.settings.system, path).empty()) {
    return {};  // all was forgotten, and templates take no empty list
  }
  const chat::TurnRequest request = turn_request(call.house.assistant.builder(), about, path,
                                                 call.house.turns.wish(about.settings, think));
  return price_of(call.house.assistant, request);
}

Value turn_value(const std::optional<RunningTurn>& turn) {
  if (!turn) {
    return Value::none();
  }
  return Value::dict({{"id", id_value(turn->id)},
                      {"message_id", id_value(turn->message)},
                      {"phase", text_value(turn->phase)}});
}

bool is_last(const Call& call, const store::Message& message) {
  return call.house.store.last_message(message.session) == message.id;
}

void refuse_while_running(const Call& call, const store::SessionId& session) {
  if (call.house.turns.running(session)) {
    throw Refusal{409, "warn", "An answer is still being written.", "Stop it first."};
  }
}

Value toast_value(const store::Deletion& deletion, std::string_view text, std::string_view target) {
  return Value::dict({{"text", text_value(text)},
                      {"undo_id", id_value(deletion.id)},
                      {"seconds", Value::integer(store::SessionStore::kUndoTime.count())},
                      {"target", text_value(target)}});
}

}  // namespace

server::Reply get_chat(const Call& call) {
  House& house = call.house;
  const store::SessionId& id = call.request.rest;
  Dict context;
  std::int64_t used = 0;
  if (id.empty()) {
    context.set("session", no_session_value(house.store.next_settings()));
    context.set("queued", Value::none());
    set_messages(context, {}, std::nullopt);
    context.set("turn", Value::none());
  } else {
    set_session(context, house.store, id);
    const store::Page page = house.store.newest_messages(id, kShownMessages);
    used = context_used(page.messages);
    set_messages(context, page, house.store.last_message(id));
    context.set("turn", turn_value(house.turns.running(id)));
  }
  context.set("context", Value::dict({{"used", Value::integer(used)},
                                      {"max", count_value(house.assistant.model().context)}}));
  context.set("starters", starters_value());
  context.set("notices", Value::list({}));
  set_session_list(context, house.store, id);
  return call.html("pages/chat", std::move(context));
}

server::Reply get_messages(const Call& call) {
  const store::SessionStore& store = call.house.store;
  const store::SessionId session = call.some_session();
  Dict context;
  set_session(context, store, session);
  context.set("toast", Value::none());
  const auto last = store.last_message(session);
  if (call.form.has("before")) {
    set_messages(context, store.messages_before(call.form.id("before"), kShownMessages), last);
    return call.html("fragments/messages", std::move(context));
  }
  if (call.form.has("after")) {
    if (const auto behind = store.messages_after(call.form.id("after"))) {
      set_messages(context, {*behind, std::nullopt}, last);
      return call.html("fragments/messages", std::move(context));
    }
  }
  return call.messages(session);
}

server::Reply get_message(const Call& call) {
  const store::Message message = call.house.store.message(call.form.id("message_id"));
  return call.html("fragments/message",
                   {{"message", message_value(message, is_last(call, message))}});
}

server::Reply get_message_footer(const Call& call) {
  const store::Message message = call.house.store.message(call.form.id("message_id"));
  Dict context;
  context.set("message", message_value(message, is_last(call, message)));
  context.set("session", session_value(call.house.store.session(message.session)));
  set_session_list(context, call.house.store, message.session);
  return call.html("fragments/message_footer", std::move(context));
}

server::Reply get_edit(const Call& call) {
  const store::SessionStore& store = call.house.store;
  const store::Message message = store.message(call.form.id("message_id"));
  const Price price = price_of_path(call, message.session, store.messages_up_to(message.id),
                                    store.session(message.session).settings.think);
  return call.html("fragments/edit", {{"message", message_value(message, is_last(call, message))},
                                      {"price", price_value(price)}});
}

server::Reply get_price(const Call& call) {
  const store::SessionStore& store = call.house.store;
  const store::SessionId session = call.some_session();
  std::vector<store::Message> path;
  const auto id = call.form.has("message_id") ? std::optional(call.form.id("message_id"))
                                              : store.last_message(session);
  if (id) {
    path = store.messages_up_to(*id);
  }
  if (call.form.text("action") == "regenerate" && !path.empty() &&
      path.back().role == store::Role::Assistant) {
    path.pop_back();
  }
  const bool think = store.session(session).settings.think;
  const Price price = price_of_path(call, session, path, think);
  return server::json_response(
      200, {{"tokens", price.tokens}, {"total", price.total}, {"seconds", price.seconds}});
}

std::optional<Value> think_price(const Call& call, const store::SessionId& session, bool think) {
  const auto last = call.house.store.last_message(session);
  if (!last) {
    return std::nullopt;
  }
  return price_value(price_of_path(call, session, call.house.store.messages_up_to(*last), think));
}

server::Reply post_branch(const Call& call) {
  const store::Message message = call.house.store.message(call.form.id("message_id"));
  refuse_while_running(call, message.session);
  call.house.store.select(message.id);
  return call.messages(message.session);
}

server::Reply post_delete(const Call& call) {
  House& house = call.house;
  if (call.form.has("message_id")) {
    const store::Message message = house.store.message(call.form.id("message_id"));
    refuse_while_running(call, message.session);
    const store::Deletion deletion = house.store.erase_message(message.id);
    house.turns.purge_later();
    return call.messages(message.session,
                         toast_value(deletion, "Deleted from here on.", "#messages"));
  }
  const store::Session session = house.store.session(call.form.text("session_id"));
  house.turns.drop(session.id);
  const store::Deletion deletion = house.store.erase_session(session.id);
  house.turns.purge_later();
  return call.session_list(
      {{"toast", toast_value(deletion, "“" + session.title + "” was deleted.", "#session-list")}});
}

server::Reply post_undo(const Call& call) {
  const auto undone = call.house.store.undo(call.form.id("undo_id"));
  if (!undone) {
    throw Refusal{400, "warn", "It can no longer be brought back."};
  }
  return undone->message ? call.messages(undone->session) : call.session_list();
}

server::Reply post_attachment(const Call& call) {
  const std::string& text = call.form.text("text");
  const std::size_t tokens =
      call.house.assistant.builder().tokenizer().encode(text, text::AddedTokens::None).size();
  const store::Attachment file{call.form.text("name"), text, static_cast<std::int64_t>(tokens)};
  return call.html("fragments/attachment", {{"file", attachment_value(file)}});
}

server::Reply post_reset_context(const Call& call) {
  const store::SessionId session = call.some_session();
  if (!call.house.store.add_note(session, {"The model has forgotten what stands above."})) {
    throw Refusal{409, "warn", "An answer is still being written.", "Stop it first."};
  }
  call.house.turns.tell_changed(session);
  return call.note("info", "The model has forgotten what was said so far.");
}

}  // namespace smol::page
