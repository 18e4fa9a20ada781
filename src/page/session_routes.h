// Routes of the list of sessions, of settings, of what comes and goes as a file, and of the status:
// docs/page.md, "Templates".
#pragma once

#include "page/house.h"

namespace smol::page {

server::Reply get_sessions(const Call& call);
server::Reply get_search(const Call& call);
server::Reply get_session_ids(const Call& call);
server::Reply get_rename(const Call& call);
server::Reply post_rename(const Call& call);
server::Reply post_pin(const Call& call);
server::Reply post_archive(const Call& call);

server::Reply get_export(const Call& call);
server::Reply post_import(const Call& call);

server::Reply get_settings(const Call& call);
server::Reply post_settings(const Call& call);
server::Reply post_toggle_thinking(const Call& call);
server::Reply post_set_temperature(const Call& call);

// GET /status, /status/live
server::Reply get_status_page(const Call& call);
server::Reply get_status_live(const Call& call);
// GET /api/status, /api/model-info
server::Reply get_status(const Call& call);
server::Reply get_model_info(const Call& call);

}  // namespace smol::page
