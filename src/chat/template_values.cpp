#include "chat/template_values.h"

#include <utility>

#include "base/json.h"
#include "chat/literal.h"
#include "chat/tag.h"

namespace smol::chat {
namespace {

using jinja::MarkedString;
using jinja::Origin;
using jinja::Value;

Value input(std::string_view text) {
  return Value::string(std::string(text), Origin::Input);
}

void append_block(MarkedString& out, Tag open, std::string_view inner, Tag close) {
  out.append(text_of(open), Origin::Template);
  out.append("\n", Origin::Input);
  out.append(inner, Origin::Input);
  out.append("\n", Origin::Input);
  out.append(text_of(close), Origin::Template);
}

void start_line(MarkedString& out) {
  if (!out.bytes().empty()) {
    out.append("\n", Origin::Input);
  }
}

// The answer without thoughts.
MarkedString answer_of(const Message& message, const TemplateFields& fields) {
  MarkedString out;
  if (!message.written.empty() && !fields.tool_calls) {
    for (const Piece& piece : message.written) {
      out.append(piece.text, piece.is_tag ? Origin::Template : Origin::Input);
    }
    return out;
  }
  out.append(message.content, Origin::Input);
  for (const std::string& code : message.code_blocks) {
    start_line(out);
    append_block(out, Tag::CodeOpen, code, Tag::CodeClose);
  }
  if (fields.tool_calls) {
    return out;
  }
  for (const ToolCall& call : message.tool_calls) {
    start_line(out);
    append_block(out, Tag::ToolCallOpen,
                 "{\"name\": " + json_quote(call.name) + ", \"arguments\": " + call.arguments + "}",
                 Tag::ToolCallClose);
  }
  return out;
}

Value call_value(const ToolCall& call) {
  const jinja::Dict function{
      {"name", input(call.name)},
      {"arguments", to_value(parse_json(call.arguments, "arguments of " + call.name))}};
  return Value::dict(
      {{"id", input(call.id)}, {"type", input("function")}, {"function", Value::dict(function)}});
}

}  // namespace

Value to_value(const Json& json) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return Value::boolean(json.get<bool>());
    case Json::value_t::number_integer:
      return Value::integer(json.get<std::int64_t>());
    case Json::value_t::number_unsigned:
      return Value::integer(jinja::BigInt::from_digits(json.dump(), 10));
    case Json::value_t::number_float:
      return Value::number(json.get<double>());
    case Json::value_t::string:
      return input(json.get_ref<const std::string&>());
    case Json::value_t::array: {
      jinja::List items;
      for (const Json& item : json) {
        items.push_back(to_value(item));
      }
      return Value::list(std::move(items));
    }
    case Json::value_t::object: {
      jinja::Dict entries;
      for (const auto& [key, value] : json.items()) {
        entries.set(key, to_value(value));
      }
      return Value::dict(std::move(entries));
    }
    default:
      return Value::none();
  }
}

MarkedString assistant_content(const Message& message, const ContentOptions& options) {
  MarkedString out;
  if (options.with_thoughts && !options.fields.reasoning && !message.reasoning.empty()) {
    append_block(out, Tag::ThinkOpen, message.reasoning, Tag::ThinkClose);
    out.append("\n", Origin::Input);
  }
  out.append(answer_of(message, options.fields));
  return out;
}

Value to_value(const Message& message, MarkedString content, const ContentOptions& options) {
  jinja::Dict entries{{"role", Value::string(std::string(name_of(message.role)), Origin::Template)},
                      {"content", Value::string(std::move(content))}};
  if (options.fields.tool_calls && !message.tool_calls.empty()) {
    jinja::List calls;
    for (const ToolCall& call : message.tool_calls) {
      calls.push_back(call_value(call));
    }
    entries.set("tool_calls", Value::list(std::move(calls)));
  }
  if (options.fields.reasoning && options.with_thoughts && !message.reasoning.empty()) {
    entries.set("reasoning_content", input(message.reasoning));
  }
  if (!message.tool_call_id.empty()) {
    entries.set("tool_call_id", input(message.tool_call_id));
  }
  if (!message.name.empty()) {
    entries.set("name", input(message.name));
  }
  return Value::dict(std::move(entries));
}

}  // namespace smol::chat
