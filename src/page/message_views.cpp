#include "page/message_views.h"

#include <utility>
#include <variant>

#include "base/json.h"
#include "page/values.h"

namespace smol::page {
namespace {

using jinja::Dict;
using jinja::List;
using jinja::Value;

Value ms_value(std::optional<store::Milliseconds> time) {
  return time ? Value::integer(time->count()) : Value::none();
}

Value arguments_value(const std::string& arguments) {
  List out;
  const Json parsed = Json::parse(arguments, nullptr, false);
  if (parsed.is_object()) {
    for (const auto& [name, value] : parsed.items()) {
      const std::string text = value.is_string()
                                   ? value.get<std::string>()
                                   : value.dump(-1, ' ', false, Json::error_handler_t::replace);
      out.push_back(Value::dict({{"name", text_value(name)}, {"value", text_value(text)}}));
    }
  }
  return Value::list(std::move(out));
}

struct PartValue {
  Value operator()(const store::TextPart& part) const {
    return Value::dict({{"kind", text_value("text")}, {"text", text_value(part.text)}});
  }

  Value operator()(const store::ThinkingPart& part) const {
    return Value::dict({{"kind", text_value("thinking")},
                        {"text", text_value(part.text)},
                        {"tokens", Value::integer(part.tokens)},
                        {"ms", Value::integer(part.time.count())}});
  }

  Value operator()(const store::ToolPart& part) const {
    return Value::dict({{"kind", text_value("tool")}, {"call", call_value(part)}});
  }
};

Value branch_value(const store::Branch& branch) {
  return Value::dict({{"index", count_value(branch.index)},
                      {"count", count_value(branch.count)},
                      {"previous_id", id_value(branch.previous)},
                      {"next_id", id_value(branch.next)}});
}

void set_answer(Dict& out, const store::Message& message) {
  const store::Answer& answer = message.answer;
  List parts;
  for (const store::Part& part : answer.parts) {
    parts.push_back(std::visit(PartValue{}, part));
  }
  out.set("turn_id", text_value(message.turn == 0 ? "" : id_text(message.turn)));
  out.set("state", text_value(word_of(answer.state)));
  out.set("parts", Value::list(std::move(parts)));
  out.set("tokens", Value::integer(answer.figures.tokens));
  out.set("ms", answer.figures.time.count() > 0 ? ms_value(answer.figures.time) : Value::none());
  out.set("tokens_per_second", Value::number(store::tokens_per_second(answer.figures)));
  out.set("limit", Value::integer(answer.limit));
  out.set("error", Value::dict({{"text", text_value(answer.error.text)},
                                {"hint", text_value(answer.error.hint)}}));
}

}  // namespace

std::string_view word_of(store::AnswerState state) noexcept {
  switch (state) {
    case store::AnswerState::Running:
      return "running";
    case store::AnswerState::Done:
      return "done";
    case store::AnswerState::Stopped:
      return "stopped";
    case store::AnswerState::Limit:
      return "limit";
    case store::AnswerState::ThinkingLimit:
      return "thinking_limit";
    case store::AnswerState::Context:
      return "context";
    case store::AnswerState::Interrupted:
      return "interrupted";
    case store::AnswerState::Error:
      return "error";
  }
  return "";
}

std::string_view word_of(store::ToolState state) noexcept {
  switch (state) {
    case store::ToolState::Asking:
      return "asking";
    case store::ToolState::Running:
      return "running";
    case store::ToolState::Done:
      return "done";
    case store::ToolState::Denied:
      return "denied";
    case store::ToolState::Failed:
      return "failed";
  }
  return "";
}

Value call_value(const store::ToolPart& call) {
  return Value::dict({{"id", text_value(call.call_id)},
                      {"name", text_value(call.name)},
                      {"arguments", arguments_value(call.arguments)},
                      {"state", text_value(word_of(call.state))},
                      {"result", call.result.empty() ? Value::none() : text_value(call.result)},
                      {"ms", ms_value(call.time)}});
}

Value attachment_value(const store::Attachment& file) {
  return Value::dict({{"name", text_value(file.name)},
                      {"text", text_value(file.text)},
                      {"tokens", Value::integer(file.tokens)}});
}

Value input_value(const std::optional<store::UserInput>& input) {
  if (!input) {
    return Value::none();
  }
  List files;
  for (const store::Attachment& file : input->attachments) {
    files.push_back(attachment_value(file));
  }
  return Value::dict(
      {{"text", text_value(input->text)}, {"attachments", Value::list(std::move(files))}});
}

Value message_value(const store::Message& message, bool is_last) {
  Dict out;
  out.set("id", text_value(id_text(message.id)));
  out.set("is_last", Value::boolean(is_last));
  out.set("branch", branch_value(message.branch));
  if (message.role == store::Role::Assistant) {
    out.set("role", text_value("assistant"));
    set_answer(out, message);
    return Value::dict(std::move(out));
  }
  out.set("role", text_value(message.role == store::Role::User ? "user" : "note"));
  out.set("text", text_value(message.text));
  List files;
  for (const store::Attachment& file : message.attachments) {
    files.push_back(attachment_value(file));
  }
  out.set("attachments", Value::list(std::move(files)));
  return Value::dict(std::move(out));
}

Value messages_value(std::span<const store::Message> messages,
                     std::optional<store::MessageId> last) {
  List out;
  for (const store::Message& message : messages) {
    out.push_back(message_value(message, message.id == last));
  }
  return Value::list(std::move(out));
}

std::int64_t context_used(const store::Answer& answer) noexcept {
  std::int64_t used = answer.figures.prompt_tokens + answer.figures.tokens;
  for (const store::Part& part : answer.parts) {
    if (const auto* thinking = std::get_if<store::ThinkingPart>(&part)) {
      used -= thinking->tokens;
    }
  }
  return used;
}

}  // namespace smol::page
