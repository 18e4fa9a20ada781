// The chat page: its routes on a router, from fixed files to turns that live on the server.
// docs/page.md says what each answers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "page/assets.h"
#include "page/house.h"
#include "page/html_writer.h"
#include "page/templates.h"
#include "server/access.h"
#include "server/metrics.h"
#include "server/router.h"
#include "store/session_store.h"

namespace smol::page {

class PageSite {
 public:
  // `rules`: the router's; they must outlive it. `page_token`: one of their keys, which a browser
  // gets as a cookie for another one; "" where there are none.
  PageSite(PageFacts facts, const server::AccessRules& rules, std::string page_token);
  ~PageSite();
  PageSite(const PageSite&) = delete;
  PageSite& operator=(const PageSite&) = delete;

  // The router's handlers refer to this object.
  void add_routes(server::Router& router);
  // The model is loaded: until then pages say that it is, and all else is 503. Once, any thread;
  // assistant, store and metrics must outlive it.
  void open(chat::Assistant& assistant, store::SessionStore& store, server::Metrics& metrics,
            std::size_t n_threads, KeptFile kept = {});
  // The server is about to stop: turns get `grace`, are then cut and marked; streams end as soon as
  // no turn runs in their session.
  void close(std::chrono::milliseconds grace);
  // No handler runs any more: waits until turns have ended, or a second after close()'s grace.
  void end();

 private:
  // What a refusal looks like: a whole page, a notice above the input, or an error object.
  enum class Kind { Page, Fragment, Data };

  using Named = std::pair<const char*, PageHandler>;

  void add(server::Router& router, std::string method, std::string path, PageHandler handler,
           Kind kind, std::size_t body_bytes = 0);
  void add_all(server::Router& router, std::string_view method, Kind kind,
               std::span<const Named> handlers);
  void add_fragments(server::Router& router);
  void add_actions(server::Router& router);
  void add_open(server::Router& router, std::string method, std::string path,
                server::Handler handler, bool is_quick = false);
  server::Reply answer(const server::HttpRequest& request, PageHandler handler, Kind kind) const;
  server::Reply refuse(const server::HttpRequest& request, const Refusal& refusal, Kind kind) const;
  server::HttpResponse error_page(const server::HttpRequest& request, int status,
                                  std::string_view title, std::string_view text) const;
  server::Reply asset(const std::string& path, const server::HttpRequest& request) const;
  // What the browser shows without the server, where it has not kept a page.
  server::Reply not_kept(const server::HttpRequest& request) const;
  server::Reply show_login(const server::HttpRequest& request) const;
  server::Reply log_in(const server::HttpRequest& request) const;

  PageFacts facts_;
  const server::AccessRules& rules_;
  const std::string page_token_;
  Templates templates_;
  Assets assets_;
  HtmlWriter html_;
  std::unique_ptr<House> house_;
  std::atomic<House*> opened_{nullptr};
};

}  // namespace smol::page
