#include "page/house.h"

#include <cstdint>
#include <ctime>
#include <utility>

#include "page/message_views.h"
#include "page/session_views.h"
#include "page/values.h"

namespace smol::page {
namespace {

std::int64_t seconds_now() {
  return std::time(nullptr);
}

}  // namespace

House::House(chat::Assistant& the_assistant, store::SessionStore& the_store,
             const HtmlWriter& writer, const PageFacts& the_facts)
    : assistant(the_assistant),
      store(the_store),
      html(writer),
      facts(the_facts),
      turns(the_assistant, the_store, tools::built_in_tools(seconds_now)) {}

std::optional<store::SessionId> Call::session() const {
  if (form.has("message_id")) {
    return house.store.message(form.id("message_id")).session;
  }
  if (form.has("session_id")) {
    const std::string& id = form.text("session_id");
    return id.empty() ? std::nullopt : std::optional(house.store.session(id).id);
  }
  const auto newest = house.store.newest_session();
  return newest ? std::optional(newest->id) : std::nullopt;
}

store::SessionId Call::some_session() const {
  auto id = session();
  if (!id) {
    throw Refusal{400, "info", "There is no conversation yet.", "The first message starts one."};
  }
  return std::move(*id);
}

server::HttpResponse Call::html(std::string_view name, jinja::Dict context, int status) const {
  return house.html.write(request, name, std::move(context), &house.assistant, status);
}

server::HttpResponse Call::notices(std::span<const Notice> notices, int status) const {
  return html("fragments/notices", {{"notices", notices_value(notices)}}, status);
}

server::HttpResponse Call::note(std::string_view kind, std::string text, std::string hint) const {
  const Notice notice{kind, std::move(text), std::move(hint)};
  return notices({&notice, 1});
}

server::HttpResponse Call::session_list(jinja::Dict extra) const {
  set_session_list(extra, house.store, current_session(request));
  return html("fragments/sessions", std::move(extra));
}

server::HttpResponse Call::messages(const store::SessionId& session,
                                    const std::optional<jinja::Value>& toast) const {
  jinja::Dict context;
  set_session(context, house.store, session);
  set_messages(context, house.store.newest_messages(session, kShownMessages),
               house.store.last_message(session));
  context.set("toast", toast.value_or(jinja::Value::none()));
  return html("fragments/messages", std::move(context));
}

void set_session(jinja::Dict& out, const store::SessionStore& store, const store::SessionId& id) {
  out.set("session", session_value(store.session(id)));
  out.set("queued", input_value(store.queued(id)));
}

void set_messages(jinja::Dict& out, const store::Page& page, std::optional<store::MessageId> last) {
  out.set("messages", messages_value(page.messages, last));
  out.set("older_than", id_value(page.older_than));
}

std::string current_session(const server::HttpRequest& request) {
  std::string_view url = request.headers.find("HX-Current-URL").value_or("");
  url = url.substr(0, url.find_first_of("?#"));
  const std::size_t slash = url.rfind("/chat/");
  return slash == std::string_view::npos ? "" : std::string(url.substr(slash + 6));
}

}  // namespace smol::page
