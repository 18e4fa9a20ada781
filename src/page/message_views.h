// Messages as templates read them: docs/page.md, "Contexts".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "jinja/value.h"
#include "store/types.h"

namespace smol::page {

// "running", "done", "stopped" ...: what templates and events call it.
std::string_view word_of(store::AnswerState state) noexcept;
// "asking", "running", "done", "denied", "failed".
std::string_view word_of(store::ToolState state) noexcept;

// `is_last`: no message stands below it on the active path.
jinja::Value message_value(const store::Message& message, bool is_last);
// Of one path, in order; `last` is the last of the whole active path.
jinja::Value messages_value(std::span<const store::Message> messages,
                            std::optional<store::MessageId> last);
jinja::Value call_value(const store::ToolPart& call);
jinja::Value attachment_value(const store::Attachment& file);
// Text and attachments; none for nothing.
jinja::Value input_value(const std::optional<store::UserInput>& input);

// What the answer's turn left in the context: thoughts are dropped from later prompts.
std::int64_t context_used(const store::Answer& answer) noexcept;

}  // namespace smol::page
