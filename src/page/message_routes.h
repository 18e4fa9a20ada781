// Routes that show a session's messages and change what is shown: docs/page.md, "Templates".
#pragma once

#include "page/house.h"

namespace smol::page {

// GET /, /chat, /chat/{session}
server::Reply get_chat(const Call& call);
server::Reply get_messages(const Call& call);
server::Reply get_message(const Call& call);
server::Reply get_message_footer(const Call& call);
server::Reply get_edit(const Call& call);
// What an edit, a switch or a new answer would have to read again.
server::Reply get_price(const Call& call);
server::Reply post_branch(const Call& call);
// A message and all below it, or a session.
server::Reply post_delete(const Call& call);
server::Reply post_undo(const Call& call);
server::Reply post_attachment(const Call& call);
server::Reply post_reset_context(const Call& call);
server::Reply post_compact(const Call& call);

// What the whole conversation would cost with this think mode; nothing where there is none yet.
std::optional<jinja::Value> think_price(const Call& call, const store::SessionId& session,
                                        bool think);

}  // namespace smol::page
