#include "page/page_site.h"

#include <array>
#include <exception>
#include <utility>

#include "base/error.h"
#include "page/message_routes.h"
#include "page/session_routes.h"
#include "page/turn_routes.h"
#include "page/values.h"
#include "server/api_error.h"
#include "server/server.h"

namespace smol::page {
namespace {

constexpr std::size_t kMostImportBytes = 256UL << 20U;

Refusal refusal_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::NotFound:
      return {404, "bad", "It is not there any more.", error.what()};
    case ErrorCode::Exhausted:
      return {429, "warn", "The server has too much to do.", "Try again in a moment."};
    case ErrorCode::BadInput:
    case ErrorCode::Unsupported:
      return {400, "bad", error.what()};
    case ErrorCode::Io:
    case ErrorCode::Device:
      break;
  }
  return {500, "bad", error.what(), "Nothing was changed."};
}

// Only a proxy on this machine is believed: others could say what they like.
bool came_by_https(const server::HttpRequest& request) {
  return server::is_loopback(request.client) &&
         request.headers.find("X-Forwarded-Proto").value_or("") == "https";
}

std::string title_of(int status) {
  return status == 404 ? "Not found" : status == 503 ? "One moment" : "That did not work";
}

}  // namespace

PageSite::PageSite(PageFacts facts, const server::AccessRules& rules, std::string page_token)
    : facts_(std::move(facts)),
      rules_(rules),
      page_token_(std::move(page_token)),
      templates_(web_files()),
      assets_(web_files()),
      html_(templates_, assets_, facts_) {}

PageSite::~PageSite() = default;

void PageSite::open(chat::Assistant& assistant, store::SessionStore& store, std::size_t n_threads) {
  facts_.threads = n_threads;
  house_ = std::make_unique<House>(assistant, store, html_, facts_);
  opened_ = house_.get();
}

void PageSite::close() {
  if (house_) {
    house_->turns.close();
  }
}

void PageSite::end() {
  opened_ = nullptr;
  house_.reset();
}

void PageSite::add(server::Router& router, std::string method, std::string path,
                   PageHandler handler, Kind kind, std::size_t body_bytes) {
  router.add({.method = std::move(method),
              .path = std::move(path),
              .handler =
                  [this, handler, kind](const server::HttpRequest& request) {
                    return answer(request, handler, kind);
                  },
              .body_bytes = body_bytes});
}

void PageSite::add_all(server::Router& router, std::string_view method, Kind kind,
                       std::span<const Named> handlers) {
  for (const auto& [path, handler] : handlers) {
    add(router, std::string(method), path, handler, kind);
  }
}

void PageSite::add_fragments(server::Router& router) {
  constexpr std::array kFragments = {
      Named{"/status/live", get_status_live}, Named{"/api/messages", get_messages},
      Named{"/api/message", get_message},     Named{"/api/message-footer", get_message_footer},
      Named{"/api/edit", get_edit},           Named{"/api/tool", get_tool},
      Named{"/api/sessions", get_sessions},   Named{"/api/search", get_search},
      Named{"/api/rename", get_rename},       Named{"/api/settings", get_settings},
  };
  add_all(router, "GET", Kind::Fragment, kFragments);
}

void PageSite::add_actions(server::Router& router) {
  constexpr std::array kActions = {
      Named{"/api/chat", post_chat},
      Named{"/api/queue", post_queue},
      Named{"/api/unqueue", post_unqueue},
      Named{"/api/summarize", post_summarize},
      Named{"/api/regenerate", post_regenerate},
      Named{"/api/continue", post_continue},
      Named{"/api/edit", post_edit},
      Named{"/api/stop", post_stop},
      Named{"/api/pause", post_pause},
      Named{"/api/resume", post_resume},
      Named{"/api/answer-now", post_answer_now},
      Named{"/api/tool", post_tool},
      Named{"/api/branch", post_branch},
      Named{"/api/delete", post_delete},
      Named{"/api/undo", post_undo},
      Named{"/api/attachment", post_attachment},
      Named{"/api/reset-context", post_reset_context},
      Named{"/api/compact", post_compact},
      Named{"/api/rename", post_rename},
      Named{"/api/pin", post_pin},
      Named{"/api/archive", post_archive},
      Named{"/api/settings", post_settings},
      Named{"/api/toggle-thinking", post_toggle_thinking},
      Named{"/api/set-temperature", post_set_temperature},
  };
  add_all(router, "POST", Kind::Fragment, kActions);
  add(router, "POST", "/api/import", post_import, Kind::Fragment, kMostImportBytes);
}

// Without a key: what a browser needs to show the login page.
void PageSite::add_open(server::Router& router, std::string method, std::string path,
                        server::Handler handler, bool is_quick) {
  router.add({.method = std::move(method),
              .path = std::move(path),
              .handler = std::move(handler),
              .needs_key = false,
              .is_quick = is_quick});
}

void PageSite::add_routes(server::Router& router) {
  constexpr std::array kPages = {Named{"/", get_chat}, Named{"/chat", get_chat},
                                 Named{"/chat/{session}", get_chat},
                                 Named{"/status", get_status_page}};
  constexpr std::array kData = {
      Named{"/api/stream/{session}", get_stream},
      Named{"/api/status", get_status},
      Named{"/api/model-info", get_model_info},
      Named{"/api/session-ids", get_session_ids},
      Named{"/api/price", get_price},
      Named{"/api/export-chat", get_export},
  };
  add_all(router, "GET", Kind::Page, kPages);
  add_all(router, "GET", Kind::Data, kData);
  add_fragments(router);
  add_actions(router);
  for (const std::string folder : {"", "vendor/", "vendor/fonts/"}) {
    const auto file = [this, folder](const server::HttpRequest& request) {
      return asset(folder + request.rest, request);
    };
    add_open(router, "GET", "/static/" + folder + "{file}", file, true);
  }
  const auto worker = [this](const auto& request) { return asset("sw.js", request); };
  add_open(router, "GET", "/sw.js", worker, true);
  add_open(router, "GET", "/login", [this](const auto& request) { return show_login(request); });
  add_open(router, "POST", "/login", [this](const auto& request) { return log_in(request); });
}

server::Reply PageSite::answer(const server::HttpRequest& request, PageHandler handler,
                               Kind kind) const {
  House* house = opened_;
  if (house == nullptr) {
    return refuse(request, {503, "warn", "The model is being loaded."}, kind);
  }
  try {
    const Form form(request);
    return handler({*house, request, form});
  } catch (const Refusal& refusal) {
    return refuse(request, refusal, kind);
  } catch (const Error& error) {
    return refuse(request, refusal_of(error), kind);
  }
}

server::Reply PageSite::refuse(const server::HttpRequest& request, const Refusal& refusal,
                               Kind kind) const {
  if (kind == Kind::Data) {
    return server::to_response({.status = refusal.status, .message = refusal.text});
  }
  const House* house = opened_;
  const chat::Assistant* assistant = house == nullptr ? nullptr : &house->assistant;
  if (kind == Kind::Fragment) {
    const Notice notice{refusal.kind, refusal.text, refusal.hint};
    auto response =
        html_.write(request, "fragments/notices", {{"notices", notices_value({&notice, 1})}},
                    assistant, refusal.status);
    if (refusal.status == 429 || refusal.status == 503) {
      response.headers.add("Retry-After", std::string(server::kRetryAfterSeconds));
    }
    return response;
  }
  const std::string text =
      refusal.status == 404
          ? "There is no such conversation: it was deleted, or the address is wrong."
          : refusal.text;
  auto response =
      html_.write(request, "pages/error",
                  {{"error", jinja::Value::dict({{"title", text_value(title_of(refusal.status))},
                                                 {"text", text_value(text)}})}},
                  assistant, refusal.status);
  if (refusal.status == 503) {
    response.headers.add("Refresh", "2");  // seconds
  }
  return response;
}

server::Reply PageSite::asset(const std::string& path, const server::HttpRequest& request) const {
  return assets_.get(path, request);
}

server::Reply PageSite::show_login(const server::HttpRequest& request) const {
  const House* house = opened_;
  return html_.write(request, "pages/login",
                     {{"failed", jinja::Value::boolean(Form(request).has("failed"))}},
                     house == nullptr ? nullptr : &house->assistant);
}

server::Reply PageSite::log_in(const server::HttpRequest& request) const {
  server::HttpRequest shown;
  shown.headers.add("Authorization", "Bearer " + Form(request).text("key"));
  const bool may_enter = !server::refuse_key(shown, rules_);
  server::HttpResponse response{303, {{"Location", may_enter ? "/" : "/login?failed=1"}}, ""};
  if (may_enter && !page_token_.empty()) {
    const std::string cookie =
        "smolbot=" + page_token_ + "; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000";
    response.headers.add("Set-Cookie", cookie + (came_by_https(request) ? "; Secure" : ""));
  }
  return response;
}

}  // namespace smol::page
