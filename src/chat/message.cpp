#include "chat/message.h"

#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/json.h"

namespace smol::chat {
namespace {

std::string path_of(std::string_view path, std::string_view field) {
  return std::string(path) + "." + std::string(field);
}

std::string path_of(std::string_view path, std::size_t index) {
  return std::string(path) + "[" + std::to_string(index) + "]";
}

[[noreturn]] void refuse(const std::string& path, std::string_view expected,
                         std::string_view found) {
  throw Error(ErrorCode::BadInput,
              path + ": expected " + std::string(expected) + ", found " + std::string(found));
}

// The member `field`, or null if there is none.
const Json* member(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// "" where the member is absent or null.
std::string string_member(const Json& object, const char* field, std::string_view path) {
  const Json* value = member(object, field);
  if (value == nullptr) {
    return "";
  }
  if (!value->is_string()) {
    refuse(path_of(path, field), "a string", value->type_name());
  }
  return value->get<std::string>();
}

std::string part_text(const Json& part, const std::string& path) {
  if (part.is_string()) {
    return part.get<std::string>();
  }
  if (!part.is_object()) {
    refuse(path, "a text part", part.type_name());
  }
  const std::string type = string_member(part, "type", path);
  if (!type.empty() && type != "text") {
    throw Error(ErrorCode::Unsupported, path + ".type: expected text, found " + type);
  }
  if (member(part, "text") == nullptr) {
    refuse(path_of(path, "text"), "a string", "nothing");
  }
  return string_member(part, "text", path);
}

std::string content_of(const Json& message, std::string_view path) {
  const Json* value = member(message, "content");
  if (value == nullptr || value->is_string()) {
    return value == nullptr ? "" : value->get<std::string>();
  }
  const std::string content_path = path_of(path, "content");
  if (!value->is_array()) {
    refuse(content_path, "a string, null or a list of text parts", value->type_name());
  }
  std::string out;
  for (std::size_t i = 0; i < value->size(); ++i) {
    out += part_text((*value)[i], path_of(content_path, i));
  }
  return out;
}

std::string arguments_of(const Json& function, const std::string& path) {
  const Json* value = member(function, "arguments");
  if (value == nullptr) {
    return "{}";
  }
  const std::string arguments_path = path_of(path, "arguments");
  if (value->is_object()) {
    return spaced_json(*value);
  }
  if (!value->is_string()) {
    refuse(arguments_path, "an object, or a string that holds one", value->type_name());
  }
  auto text = value->get<std::string>();
  if (text.empty()) {
    return "{}";
  }
  if (!parse_json(text, arguments_path).is_object()) {
    refuse(arguments_path, "a string that holds a JSON object", "another value");
  }
  return text;
}

ToolCall tool_call_of(const Json& value, const std::string& path) {
  if (!value.is_object()) {
    refuse(path, "an object", value.type_name());
  }
  const Json* inner = member(value, "function");
  if (inner != nullptr && !inner->is_object()) {
    refuse(path_of(path, "function"), "an object", inner->type_name());
  }
  const Json& function = inner == nullptr ? value : *inner;
  const std::string function_path = inner == nullptr ? path : path_of(path, "function");
  ToolCall call;
  call.id = string_member(value, "id", path);
  call.name = string_member(function, "name", function_path);
  if (call.name.empty()) {
    refuse(path_of(function_path, "name"), "a name", "nothing");
  }
  call.arguments = arguments_of(function, function_path);
  return call;
}

void read_assistant(const Json& value, std::string_view path, Message& message) {
  message.reasoning = string_member(value, "reasoning_content", path);
  if (message.reasoning.empty()) {
    message.reasoning = string_member(value, "reasoning", path);
  }
  const Json* calls = member(value, "tool_calls");
  if (calls == nullptr) {
    return;
  }
  const std::string calls_path = path_of(path, "tool_calls");
  if (!calls->is_array()) {
    refuse(calls_path, "a list", calls->type_name());
  }
  for (std::size_t i = 0; i < calls->size(); ++i) {
    message.tool_calls.push_back(tool_call_of((*calls)[i], path_of(calls_path, i)));
  }
}

void append_spaced(const Json& value, std::string& out) {
  if (!value.is_structured()) {
    out += value.dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  out += value.is_object() ? '{' : '[';
  bool first = true;
  for (const auto& [key, item] : value.items()) {
    out += first ? "" : ", ";
    first = false;
    if (value.is_object()) {
      out += Json(key).dump(-1, ' ', false, Json::error_handler_t::replace) + ": ";
    }
    append_spaced(item, out);
  }
  out += value.is_object() ? '}' : ']';
}

}  // namespace

std::string spaced_json(const Json& value) {
  std::string out;
  append_spaced(value, out);
  return out;
}

std::string_view name_of(Role role) noexcept {
  switch (role) {
    case Role::System:
      return "system";
    case Role::User:
      return "user";
    case Role::Assistant:
      return "assistant";
    case Role::Tool:
      return "tool";
  }
  return "";
}

Role role_of(std::string_view name, std::string_view path) {
  for (const Role role : {Role::System, Role::User, Role::Assistant, Role::Tool}) {
    if (name == name_of(role)) {
      return role;
    }
  }
  if (name == "developer") {
    return Role::System;
  }
  refuse(std::string(path), "system, user, assistant, tool or developer", name);
}

namespace {

// Arguments are an object, so that a schema of anything else could not be kept.
void check_parameters(const Json& function, const std::string& path) {
  const Json* parameters = member(function, "parameters");
  if (parameters == nullptr) {
    return;
  }
  const std::string parameters_path = path_of(path, "parameters");
  if (!parameters->is_object()) {
    refuse(parameters_path, "an object (a JSON schema)", parameters->type_name());
  }
  const Json* type = member(*parameters, "type");
  if (type != nullptr && type->is_string() && *type != "object") {
    refuse(path_of(parameters_path, "type"), "\"object\"", type->dump());
  }
}

// An OpenAI tool object, or the function alone: what the template reads is there, under a name that
// no tool before it has.
void check_function(const Json& tool, const std::string& path, std::set<std::string>& names) {
  const Json* inner = member(tool, "function");
  const std::string function_path = inner == nullptr ? path : path_of(path, "function");
  const Json& function = inner == nullptr ? tool : *inner;
  if (!function.is_object()) {
    refuse(function_path, "an object", function.type_name());
  }
  const Json* name = member(function, "name");
  if (name == nullptr || !name->is_string() || name->get_ref<const std::string&>().empty()) {
    refuse(path_of(function_path, "name"), "the function's name",
           name == nullptr     ? "none"
           : name->is_string() ? "\"\""
                               : name->type_name());
  }
  if (!names.insert(name->get<std::string>()).second) {
    refuse(path_of(function_path, "name"), "another name than those of the tools before it",
           name->get_ref<const std::string&>());
  }
  check_parameters(function, function_path);
}

}  // namespace

Message message_from_json(const Json& value, std::string_view path) {
  if (!value.is_object()) {
    refuse(std::string(path), "an object", value.type_name());
  }
  Message message;
  message.role = role_of(string_member(value, "role", path), path_of(path, "role"));
  message.content = content_of(value, path);
  if (message.role == Role::Assistant) {
    read_assistant(value, path, message);
  }
  if (message.role == Role::Tool) {
    message.tool_call_id = string_member(value, "tool_call_id", path);
    message.name = string_member(value, "name", path);
  }
  return message;
}

std::vector<Message> messages_from_json(const Json& value, std::string_view path) {
  if (!value.is_array()) {
    refuse(std::string(path), "a list", value.type_name());
  }
  std::vector<Message> out;
  for (std::size_t i = 0; i < value.size(); ++i) {
    out.push_back(message_from_json(value[i], path_of(path, i)));
  }
  return out;
}

Json to_json(const Message& message) {
  Json out = {{"role", name_of(message.role)}, {"content", message.content}};
  if (!message.reasoning.empty()) {
    out["reasoning_content"] = message.reasoning;
  }
  for (const ToolCall& call : message.tool_calls) {
    out["tool_calls"].push_back(
        {{"id", call.id},
         {"type", "function"},
         {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }
  if (!message.tool_call_id.empty()) {
    out["tool_call_id"] = message.tool_call_id;
  }
  if (!message.name.empty()) {
    out["name"] = message.name;
  }
  return out;
}

std::vector<ToolSpec> tools_from_json(const Json& value, std::string_view path) {
  if (!value.is_array()) {
    refuse(std::string(path), "a list", value.type_name());
  }
  std::vector<ToolSpec> out;
  std::set<std::string> names;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!value[i].is_object()) {
      refuse(path_of(path, i), "an object", value[i].type_name());
    }
    check_function(value[i], path_of(path, i), names);
    out.push_back(value[i]);
  }
  return out;
}

}  // namespace smol::chat
