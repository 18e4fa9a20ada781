#include "chat/call_reader.h"

#include <string>
#include <utility>

#include "chat/literal.h"
#include "chat/space.h"

namespace smol::chat {
namespace {

// The members of a call object that matter; of equal keys the last counts.
struct Members {
  std::optional<Literal> name, arguments, parameters, function;
};

std::optional<Members> read_members(LiteralReader& reader) {
  if (!reader.accept('{')) {
    return std::nullopt;
  }
  Members members;
  while (!reader.accept('}')) {
    reader.skip_space();
    const auto key = reader.read_string();
    if (!key || !reader.accept(':')) {
      return std::nullopt;
    }
    auto value = reader.read_value();
    if (!value) {
      return std::nullopt;
    }
    if (*key == "name") {
      members.name = std::move(value);
    } else if (*key == "arguments") {
      members.arguments = std::move(value);
    } else if (*key == "parameters") {
      members.parameters = std::move(value);
    } else if (*key == "function") {
      members.function = std::move(value);
    }
    if (!reader.accept(',') && !reader.next_is('}')) {
      return std::nullopt;
    }
  }
  return members;
}

// Strict JSON of an object, or nothing.
std::optional<std::string> object_of(const Literal& literal) {
  if (literal.kind == Literal::Kind::Object) {
    return literal.json;
  }
  if (literal.kind == Literal::Kind::Null) {
    return "{}";
  }
  if (literal.kind != Literal::Kind::String) {
    return std::nullopt;
  }
  LiteralReader reader(literal.string);
  if (reader.at_end()) {
    return "{}";
  }
  auto inner = reader.read_value();
  if (!inner || inner->kind != Literal::Kind::Object || !reader.at_end()) {
    return std::nullopt;
  }
  return std::move(inner->json);
}

std::optional<ToolCall> call_of(const Members& members) {
  if (!members.name || members.name->kind != Literal::Kind::String ||
      members.name->string.empty()) {
    return std::nullopt;
  }
  const auto& arguments = members.arguments ? members.arguments : members.parameters;
  auto object = arguments ? object_of(*arguments) : std::optional<std::string>("{}");
  if (!object) {
    return std::nullopt;
  }
  return ToolCall{"", members.name->string, std::move(*object)};
}

std::optional<ToolCall> read_call(LiteralReader& reader) {
  const auto members = read_members(reader);
  if (!members) {
    return std::nullopt;
  }
  if (!members->name && members->function && members->function->kind == Literal::Kind::Object) {
    LiteralReader inner(members->function->json);
    const auto inner_members = read_members(inner);
    return inner_members ? call_of(*inner_members) : std::nullopt;
  }
  return call_of(*members);
}

}  // namespace

std::optional<std::vector<ToolCall>> read_calls(std::string_view text) {
  LiteralReader reader(text);
  std::vector<ToolCall> calls;
  if (!reader.accept('[')) {
    auto call = read_call(reader);
    if (!call || !reader.at_end()) {
      return std::nullopt;
    }
    calls.push_back(std::move(*call));
    return calls;
  }
  while (!reader.accept(']')) {
    auto call = read_call(reader);
    if (!call || (!reader.accept(',') && !reader.next_is(']'))) {
      return std::nullopt;
    }
    calls.push_back(std::move(*call));
  }
  return reader.at_end() ? std::optional(std::move(calls)) : std::nullopt;
}

}  // namespace smol::chat
