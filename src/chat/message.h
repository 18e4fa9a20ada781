// A conversation as the rest of the program sees it: roles, texts, thoughts and tool calls, never
// tokens.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"

namespace smol::chat {

enum class Role { System, User, Assistant, Tool };

// "system", "user", "assistant", "tool".
std::string_view name_of(Role role) noexcept;
// Also "developer", which means system. Throws Error{BadInput} with `path` for any other name.
Role role_of(std::string_view name, std::string_view path);

struct ToolCall {
  std::string id;         // may be empty
  std::string name;       // never empty
  std::string arguments;  // JSON text of an object, the model's own where that is valid JSON
  bool operator==(const ToolCall&) const = default;
};

// A stretch of what a model wrote: text, or one of the tags of chat/tag.h.
struct Piece {
  std::string text;
  bool is_tag = false;
  bool operator==(const Piece&) const = default;
};

struct Message {
  Role role = Role::User;
  std::string content;
  // Assistant only.
  std::string reasoning;  // thoughts, without tags; "" if there are none
  std::vector<ToolCall> tool_calls;
  std::vector<std::string> code_blocks;
  // The answer exactly as the model wrote it, thoughts left out, tags apart. Where it is not empty,
  // a prompt uses it in place of content, tool_calls and code_blocks.
  std::vector<Piece> written;
  // Tool only.
  std::string tool_call_id;
  std::string name;
};

// One function the model may call: an OpenAI tool object, or the function alone, passed to the
// template as is.
using ToolSpec = Json;

// From OpenAI's JSON: content may be a string, null or a list of text parts (joined); tool_calls'
// arguments an object or a string that holds one. `path` names the value in errors: "messages[2]".
// Throws Error{BadInput} with the field's path, Error{Unsupported} for parts that are no text.
Message message_from_json(const Json& value, std::string_view path);
std::vector<Message> messages_from_json(const Json& value, std::string_view path = "messages");
Json to_json(const Message& message);

// Throws Error{BadInput} with the path unless `value` is a list of functions that have a name.
std::vector<ToolSpec> tools_from_json(const Json& value, std::string_view path = "tools");

// As Python's json.dumps writes it: ", " and ": " between values, no escapes of letters.
std::string spaced_json(const Json& value);

}  // namespace smol::chat
