// What all handlers of the page share, and one request as they see it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "chat/assistant.h"
#include "page/form.h"
#include "page/html_writer.h"
#include "page/status_history.h"
#include "page/turns.h"
#include "server/router.h"
#include "store/session_store.h"

namespace smol::page {

// Any thread. What it is given must outlive it.
struct House {
  House(chat::Assistant& the_assistant, store::SessionStore& the_store, const HtmlWriter& writer,
        const PageFacts& the_facts);

  chat::Assistant& assistant;
  store::SessionStore& store;
  const HtmlWriter& html;
  const PageFacts& facts;
  Turns turns;
  StatusHistory history;
};

// Why a request is not done, as a fragment says it above the input.
struct Refusal {
  int status;
  std::string_view kind;  // "info", "warn", "bad"
  std::string text;
  std::string hint = {};
};

struct Call {
  House& house;
  const server::HttpRequest& request;
  const Form& form;

  // The session that the request speaks of: by one of its messages, by its own id, or the newest
  // where it names none. Nothing: session_id is "", or there is none at all. Throws
  // Error{NotFound}.
  std::optional<store::SessionId> session() const;
  // The same. Throws Refusal where there is none.
  store::SessionId some_session() const;

  server::HttpResponse html(std::string_view name, jinja::Dict context, int status = 200) const;
  server::HttpResponse notices(std::span<const Notice> notices, int status = 200) const;
  server::HttpResponse note(std::string_view kind, std::string text, std::string hint = {}) const;
  // #session-list, after a change; `extra` may hold toast and notices.
  server::HttpResponse session_list(jinja::Dict extra = {}) const;
  // #messages of the session: the newest ones of its active path.
  server::HttpResponse messages(const store::SessionId& session,
                                const std::optional<jinja::Value>& toast = std::nullopt) const;
};

using PageHandler = server::Reply (*)(const Call& call);

// What the page shows at once of a long conversation.
inline constexpr std::size_t kShownMessages = 40;

// Sets session and queued.
void set_session(jinja::Dict& out, const store::SessionStore& store, const store::SessionId& id);
// Sets messages and older_than.
void set_messages(jinja::Dict& out, const store::Page& page, std::optional<store::MessageId> last);
// The id at the end of the address that an HTMX request comes from; "" if there is none.
std::string current_session(const server::HttpRequest& request);

}  // namespace smol::page
