// What stands in a <tool_call> block -> the calls it makes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "chat/message.h"

namespace smol::chat {

// `text`: one object or list. A call has a non-empty string `name`; its arguments stand in
// `arguments` or `parameters`: an object, or a string that holds one; absent, null and "" mean {}.
// {"function": {...}} is accepted, other keys are ignored. Nothing if `text` is anything else; an
// empty list makes no call.
std::optional<std::vector<ToolCall>> read_calls(std::string_view text);

}  // namespace smol::chat
