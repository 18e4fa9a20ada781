// A path of the tree as the chat room reads it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "chat/message.h"
#include "store/types.h"

namespace smol::store {

// The system prompt, if there is one, then the path's messages from its last note on, whose summary
// is a second system message. An answer becomes a message per round, with its calls and their
// results between them; attachments stand before a user's text. Of the messages behind the note the
// oldest `left_out` are passed over.
std::vector<chat::Message> prompt_messages(std::string_view system, std::span<const Message> path,
                                           std::size_t left_out = 0);

// The messages behind the path's last note; all where there is none.
std::span<const Message> behind_last_note(std::span<const Message> path);

}  // namespace smol::store
