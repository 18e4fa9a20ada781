// Messages and JSON as a template sees them. Whatever came from outside counts as input; role names
// and the tags that this layer writes round thoughts, calls and code count as the template's.
#pragma once

#include "base/json_fwd.h"
#include "chat/message.h"
#include "jinja/marked_string.h"
#include "jinja/value.h"

namespace smol::chat {

// Strings and keys count as input.
jinja::Value to_value(const Json& json);

// Which fields a template reads by itself; the others are written into the content.
struct TemplateFields {
  bool tool_calls = false;
  bool reasoning = false;
};

struct ContentOptions {
  TemplateFields fields;
  bool with_thoughts = false;
};

// An assistant's content: thoughts (if asked for), text, code blocks and tool calls.
jinja::MarkedString assistant_content(const Message& message, const ContentOptions& options);

// The dict of one message with this content.
jinja::Value to_value(const Message& message, jinja::MarkedString content,
                      const ContentOptions& options);

}  // namespace smol::chat
