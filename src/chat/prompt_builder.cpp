#include "chat/prompt_builder.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "chat/output_parser.h"
#include "chat/space.h"
#include "chat/tag.h"
#include "chat/template_values.h"
#include "chat/written.h"

namespace smol::chat {
namespace {

using jinja::MarkedString;
using jinja::Origin;
using jinja::Value;

// Marks the end of the message that is to be continued; transformers uses the same, space included.
constexpr std::string_view kContinueMark = "CONTINUE_FINAL_MESSAGE_TAG ";

// Templates of instruct models read the first message at most: all system messages become that one.
std::vector<Message> with_one_system_message(std::span<const Message> messages) {
  std::vector<Message> out;
  Message system;
  bool has_system = false;
  for (const Message& message : messages) {
    if (message.role != Role::System) {
      out.push_back(message);
      continue;
    }
    system.role = Role::System;
    system.content += (has_system ? "\n\n" : "") + message.content;
    has_system = true;
  }
  if (has_system) {
    out.insert(out.begin(), std::move(system));
  }
  return out;
}

void check(std::span<const Message> messages, const PromptOptions& options) {
  if (messages.empty()) {
    throw Error(ErrorCode::BadInput, "messages: expected at least one, found none");
  }
  if (!options.continue_final_message) {
    return;
  }
  if (options.add_generation_prompt) {
    throw Error(ErrorCode::BadInput,
                "continue_final_message: expected add_generation_prompt to be false, found true");
  }
  if (messages.back().role != Role::Assistant) {
    throw Error(ErrorCode::BadInput,
                "continue_final_message: expected the last message to be the assistant's, found " +
                    std::string(name_of(messages.back().role)));
  }
}

// Whether the thoughts of the message that is continued are still open.
bool continues_thoughts(const Message& last, const PromptOptions& options) {
  return options.continue_final_message && !last.reasoning.empty() && last.content.empty() &&
         last.written.empty() && last.tool_calls.empty() && last.code_blocks.empty();
}

MarkedString open_thoughts(const Message& message) {
  MarkedString out(std::string(text_of(Tag::ThinkOpen)), Origin::Template);
  out.append("\n" + message.reasoning, Origin::Input);
  return out;
}

Value messages_value(const std::vector<Message>& messages, const PromptOptions& options,
                     const ContentOptions& content_options) {
  jinja::List out;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    const bool is_last = i + 1 == messages.size();
    MarkedString content(message.content, Origin::Input);
    if (is_last && continues_thoughts(message, options)) {
      content = open_thoughts(message);
    } else if (message.role == Role::Assistant) {
      ContentOptions own = content_options;
      own.with_thoughts = own.with_thoughts || (is_last && options.continue_final_message);
      content = assistant_content(message, own);
    }
    if (is_last && options.continue_final_message) {
      content.append(kContinueMark, Origin::Input);
    }
    out.push_back(to_value(message, std::move(content), content_options));
  }
  return Value::list(std::move(out));
}

Value list_or_none(jinja::List items) {
  return items.empty() ? Value::none() : Value::list(std::move(items));
}

void set_tools(jinja::Dict& variables, const PromptOptions& options) {
  jinja::List tools;
  for (const ToolSpec& tool : options.tools) {
    tools.push_back(to_value(tool));
  }
  variables.set("tools", list_or_none(std::move(tools)));
  if (!options.python_tools.empty()) {
    jinja::List python_tools;
    for (const std::string& signature : options.python_tools) {
      python_tools.push_back(Value::string(signature, Origin::Input));
    }
    variables.set("python_tools", Value::list(std::move(python_tools)));
  }
}

void set_special_tokens(jinja::Dict& variables, const text::Tokenizer& tokenizer) {
  const auto set = [&](std::string_view name, std::optional<TokenId> id) {
    if (id) {
      variables.set(name, Value::string(std::string(tokenizer.bytes_of(*id)), Origin::Template));
    }
  };
  set("bos_token", tokenizer.bos());
  set("eos_token", tokenizer.eos());
  set("pad_token", tokenizer.pad());
}

// What stands before the mark; where the template stripped the mark's space, so it would have the
// content's.
MarkedString cut_at_mark(const MarkedString& text) {
  const std::string_view bytes = text.bytes();
  const std::string_view mark = kContinueMark.substr(0, kContinueMark.size() - 1);
  std::size_t end = bytes.rfind(mark);
  if (end == std::string_view::npos) {
    throw Error(ErrorCode::BadInput,
                "continue_final_message: the template does not show the last message");
  }
  if (bytes.substr(end, kContinueMark.size()) != kContinueMark) {
    while (end > 0 && is_space(bytes[end - 1])) {
      --end;
    }
  }
  return text.substr(0, end);
}

bool ends_inside_thoughts(const MarkedString& text) {
  std::string_view bytes = text.bytes();
  while (!bytes.empty() && is_space(bytes.back())) {
    bytes.remove_suffix(1);
  }
  const std::string_view tag = text_of(Tag::ThinkOpen);
  if (bytes.size() < tag.size() || bytes.substr(bytes.size() - tag.size()) != tag) {
    return false;
  }
  const std::size_t begin = bytes.size() - tag.size();
  return std::ranges::any_of(text.template_ranges(), [&](const jinja::Range& range) {
    return range.begin <= begin && bytes.size() <= range.end;
  });
}

}  // namespace

std::tm local_now() {
  const std::time_t now = std::time(nullptr);
  std::tm out{};
  localtime_r(&now, &out);
  return out;
}

std::vector<text::PromptPart> Prompt::parts() const {
  std::vector<text::PromptPart> out;
  const std::string_view bytes = text.bytes();
  std::size_t at = 0;
  const auto add = [&](std::size_t end, bool may_hold_added_tokens) {
    if (end > at) {
      out.push_back({bytes.substr(at, end - at), may_hold_added_tokens});
      at = end;
    }
  };
  for (const jinja::Range& range : text.template_ranges()) {
    add(range.begin, false);
    add(range.end, true);
  }
  add(bytes.size(), false);
  return out;
}

PromptBuilder::PromptBuilder(std::string_view template_source, const text::Tokenizer& tokenizer)
    : template_(jinja::Template::parse(template_source)),
      tokenizer_(tokenizer),
      reads_tool_calls_(template_source.find("tool_calls") != std::string_view::npos),
      reads_reasoning_(template_source.find("reasoning_content") != std::string_view::npos) {}

Prompt PromptBuilder::build(std::span<const Message> messages, const PromptOptions& options) const {
  Prompt prompt = render(messages, options);
  prompt.ids = tokenizer_.encode(prompt.parts());
  return prompt;
}

Prompt PromptBuilder::render(std::span<const Message> messages,
                             const PromptOptions& options) const {
  check(messages, options);
  const std::vector<Message> shown = with_one_system_message(messages);
  jinja::Dict variables;
  for (const auto& [key, value] : options.extra.items()) {
    variables.set(key, to_value(value));
  }
  const ContentOptions content_options{{reads_tool_calls_, reads_reasoning_},
                                       options.keep_thoughts};
  set_special_tokens(variables, tokenizer_);
  variables.set("messages", messages_value(shown, options, content_options));
  set_tools(variables, options);
  if (variables.find("documents") == nullptr) {
    variables.set("documents", Value::none());
  }
  variables.set("add_generation_prompt", Value::boolean(options.add_generation_prompt));
  if (options.think != ThinkMode::Default) {
    variables.set("enable_thinking", Value::boolean(options.think == ThinkMode::On));
  }
  jinja::RenderOptions render_options;
  render_options.now = options.now;
  Prompt prompt;
  prompt.text = template_.render(variables, render_options).text;
  prompt.reasoning_open = ends_inside_thoughts(prompt.text);
  if (options.continue_final_message) {
    prompt.text = cut_at_mark(prompt.text);
    prompt.reasoning_open = continues_thoughts(shown.back(), options);
  }
  return prompt;
}

void mark_assistant_text(Message& message, bool tools, bool python_tools) {
  OutputMode mode;
  mode.tools = tools;
  mode.python_tools = python_tools;
  WrittenAnswer answer(mode);
  answer.take({message.content, false});
  answer.finish();
  answer.store_in(message);
}

}  // namespace smol::chat
