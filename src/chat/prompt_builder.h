// Messages -> the prompt, through the template of the model file. Every byte of the prompt knows
// whether the template (or this layer) wrote it or the input: only the former can become an added
// token.
#pragma once

#include <chrono>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/json.h"
#include "chat/message.h"
#include "jinja/marked_string.h"
#include "jinja/template.h"
#include "text/tokenizer.h"

namespace smol::chat {

enum class ThinkMode {
  Default,  // what the template does by itself
  On,
  Off
};

struct PromptOptions {
  std::vector<ToolSpec> tools;
  std::vector<std::string> python_tools;  // Python signatures
  ThinkMode think = ThinkMode::Default;
  bool add_generation_prompt = true;
  bool continue_final_message = false;  // the answer goes on from the last (assistant) message
  bool keep_thoughts = false;           // write earlier thoughts back into the prompt
  std::tm now{};                        // local time for strftime_now(): fixed per session
  Json extra = Json::object();          // further template variables; they count as input
};

// The local time at this moment.
std::tm local_now();

struct Prompt {
  jinja::MarkedString text;
  std::vector<TokenId> ids;
  bool reasoning_open = false;  // the prompt ends inside <think>

  // The text as the tokenizer takes it; views into `text`.
  std::vector<text::PromptPart> parts() const;
};

// Immutable: any thread. The tokenizer must outlive it.
class PromptBuilder {
 public:
  // Throws jinja::TemplateError if the template cannot be parsed.
  PromptBuilder(std::string_view template_source, const text::Tokenizer& tokenizer);

  // Several system messages become the first one, joined by blank lines. Tool calls are written
  // into the content where the template does not read them itself. Throws Error{BadInput} for an
  // empty conversation or options that exclude each other, jinja::TemplateError from the template.
  Prompt build(std::span<const Message> messages, const PromptOptions& options) const;
  // The same without ids.
  Prompt render(std::span<const Message> messages, const PromptOptions& options) const;

  const text::Tokenizer& tokenizer() const noexcept { return tokenizer_; }

 private:
  jinja::Template template_;
  const text::Tokenizer& tokenizer_;
  bool reads_tool_calls_;
  bool reads_reasoning_;
};

// Splits an assistant's text that a model wrote (in a file, without tokens) into Message::written
// and the fields: tags that have a meaning are marked, others stay text.
void mark_assistant_text(Message& message, bool tools, bool python_tools);

}  // namespace smol::chat
