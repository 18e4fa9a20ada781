// Routes that begin turns and act on them: docs/page.md, "Templates".
#pragma once

#include "page/house.h"

namespace smol::page {

server::Reply post_chat(const Call& call);
// A message for the time after the running answer; and its way back.
server::Reply post_queue(const Call& call);
server::Reply post_unqueue(const Call& call);
server::Reply post_summarize(const Call& call);
server::Reply post_regenerate(const Call& call);
server::Reply post_continue(const Call& call);
server::Reply post_edit(const Call& call);
server::Reply post_stop(const Call& call);
server::Reply post_pause(const Call& call);
server::Reply post_resume(const Call& call);
server::Reply post_answer_now(const Call& call);
server::Reply get_tool(const Call& call);
server::Reply post_tool(const Call& call);
// The events of a session's turns.
server::Reply get_stream(const Call& call);

}  // namespace smol::page
