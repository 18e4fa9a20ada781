// templates: each chat template with each context, as transformers' apply_chat_template runs them.
#include <map>
#include <optional>

#include "base/error.h"
#include "conformance/conformance.h"
#include "conformance/jinja_outcome.h"
#include "jinja/json_input.h"
#include "jinja/strings.h"
#include "jinja/unicode.h"

namespace smol::conformance {
namespace {

using jinja::Dict;
using jinja::List;
using jinja::Value;

constexpr std::string_view kTag = "CONTINUE_FINAL_MESSAGE_TAG ";

bool is_space(char32_t c) {
  return jinja::unicode::has(c, jinja::unicode::Property::Space);
}

std::string_view stripped(std::string_view text, jinja::Side side) {
  const jinja::Range range = jinja::strip_range(text, side, is_space);
  return text.substr(range.begin, range.end - range.begin);
}

// A failure outside the template counts as one of rendering.
struct Outside {
  std::string message;
};

Value tagged(const Value& text) {
  return Value::string(text.bytes() + std::string(kTag), jinja::Origin::Input);
}

// Appends the tag to the last text part of a message; `final` becomes what it was.
Value tag_parts(const Value& content, Value& final_text) {
  List parts = content.items();
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const Value* text = part->is(Value::Kind::Dict) ? part->dict().find("text") : nullptr;
    if (text != nullptr) {
      final_text = *text;
      Dict changed = part->dict();
      changed.set("text", tagged(final_text));
      *part = Value::dict(std::move(changed));
      return Value::list(std::move(parts));
    }
  }
  throw Outside{"could not find any text to continue in the final message"};
}

// The variables with the tag in the last message, and the text before it.
std::pair<Dict, std::string> tag_last_message(const std::string& source, Dict variables) {
  const Value* prompt = variables.find("add_generation_prompt");
  if (prompt != nullptr && prompt->is(Value::Kind::Bool) && prompt->boolean()) {
    throw Outside{"continue_final_message and add_generation_prompt are not compatible."};
  }
  List messages = variables.find("messages")->items();
  Dict last = messages.back().dict();
  const Value* content = last.find("content");
  if (content == nullptr || content->is_none() || source.find("content") == std::string::npos) {
    throw Outside{"the final message has no content to continue"};
  }
  Value final_text = *content;
  last.set("content",
           content->is(Value::Kind::Array) ? tag_parts(*content, final_text) : tagged(*content));
  messages.back() = Value::dict(std::move(last));
  variables.set("messages", Value::list(std::move(messages)));
  return {std::move(variables), final_text.bytes()};
}

std::string cut_at_tag(const std::string& text, const std::string& final_text) {
  const std::string_view tag = stripped(kTag, jinja::Side::Both);
  const std::size_t at = text.rfind(tag);
  if (at == std::string::npos ||
      text.find(stripped(final_text, jinja::Side::Both)) == std::string::npos) {
    throw Outside{"the final message does not appear in the chat"};
  }
  const std::string before = text.substr(0, at);
  return text.compare(at, kTag.size(), kTag) == 0
             ? before
             : std::string(stripped(before, jinja::Side::Right));
}

void set_defaults(Dict& variables) {
  const auto set = [&variables](std::string_view key, Value value) {
    if (variables.find(key) == nullptr) {
      variables.set(key, std::move(value));
    }
  };
  set("messages", Value::list({}));
  set("tools", Value::none());
  set("documents", Value::none());
  set("add_generation_prompt", Value::boolean(false));
}

JinjaOutcome run_context(const std::string& source, const Dict& context) {
  const Value* now = context.find("now");
  const std::tm moment = parse_moment(now == nullptr ? kFrozenMoment : now->bytes());
  Dict variables = context.find("vars")->dict();
  set_defaults(variables);
  const Value* continues = context.find("continue_final_message");
  if (continues == nullptr || !continues->boolean()) {
    return run_template(source, variables, moment);
  }
  JinjaOutcome outcome;
  try {
    const auto [with_tag, final_text] = tag_last_message(source, std::move(variables));
    outcome = run_template(source, with_tag, moment);
    if (outcome.text) {
      outcome.text = cut_at_tag(*outcome.text, final_text);
      outcome.spans.clear();
    }
  } catch (const Outside& failure) {
    outcome = {};
    outcome.error = failure.message;
    outcome.phase = "render";
  }
  return outcome;
}

}  // namespace

void run_templates(const Options& options, Report& report) {
  require_option(options.templates, "--templates");
  require_option(options.contexts, "--contexts");
  const Value contexts =
      jinja::value_from_json(read_file(options.contexts), options.contexts.filename().string());
  std::map<std::string, Value> by_id;
  for (const Value& context : contexts.items()) {
    by_id[context.dict().find("id")->bytes()] = context;
  }
  std::map<std::string, std::string> sources;
  for_each_value(options.cases, report, [&](const Dict& record, const std::string& id) {
    const std::string& name = record.find("template")->bytes();
    if (!sources.contains(name)) {
      sources[name] = read_file(options.templates / (name + ".jinja"));
    }
    const auto context = by_id.find(record.find("context")->bytes());
    if (context == by_id.end()) {
      throw Error(ErrorCode::BadInput, "no such context: " + record.find("context")->bytes());
    }
    judge(run_context(sources[name], context->second.dict()), record, id, report);
  });
}

}  // namespace smol::conformance
