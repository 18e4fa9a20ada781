#include "page/session_routes.h"

#include <utility>

#include "base/json.h"
#include "page/session_views.h"
#include "page/values.h"
#include "server/api_error.h"

namespace smol::page {
namespace {

using jinja::Dict;
using jinja::List;
using jinja::Value;

constexpr std::size_t kShownHits = 20;

Value hit_value(const store::SearchHit& hit) {
  return Value::dict({{"session_id", text_value(hit.session)},
                      {"message_id", id_value(hit.message)},
                      {"title", text_value(hit.title)},
                      {"before", text_value(hit.before)},
                      {"match", text_value(hit.match)},
                      {"after", text_value(hit.after)}});
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return "";
  }
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

}  // namespace

server::Reply get_sessions(const Call& call) {
  if (!call.form.flag("archived")) {
    return call.session_list();
  }
  Dict context;
  context.set("session_groups",
              groups_value(call.house.store.sessions(true), current_session(call.request),
                           store::SessionStore::system_time()));
  context.set("archived_count", count_value(0));
  context.set("archived", Value::boolean(true));
  return call.html("fragments/sessions", std::move(context));
}

server::Reply get_search(const Call& call) {
  const std::string query = trimmed(call.form.text("q"));
  if (query.empty()) {
    return call.session_list();
  }
  const store::SearchResult found = call.house.store.search(query, kShownHits);
  List results;
  for (const store::SearchHit& hit : found.hits) {
    results.push_back(hit_value(hit));
  }
  return call.html("fragments/search", {{"query", text_value(query)},
                                        {"results", Value::list(std::move(results))},
                                        {"total", count_value(found.total)}});
}

server::Reply get_session_ids(const Call& call) {
  return server::json_response(200, Json(call.house.store.session_ids()));
}

server::Reply get_rename(const Call& call) {
  const store::Session session = call.house.store.session(call.some_session());
  return call.html("fragments/rename", {{"item", session_value(session)}});
}

server::Reply post_rename(const Call& call) {
  const std::string title = trimmed(call.form.text("title"));
  if (title.empty()) {
    throw Refusal{400, "bad", "A title needs at least one letter."};
  }
  call.house.store.rename(call.some_session(), title);
  return call.session_list();
}

server::Reply post_pin(const Call& call) {
  call.house.store.pin(call.some_session(), call.form.flag("pinned"));
  return call.session_list();
}

server::Reply post_archive(const Call& call) {
  call.house.store.archive(call.some_session(), call.form.flag("archived"));
  return call.session_list();
}

}  // namespace smol::page
