// prompts: the chat layer's prompts. Two kinds of files:
// templates_golden.jsonl (--templates, --contexts, --tokenizers): for each SmolLM template and
// context the ids built from marked parts are those of the whole text, and the text is the golden
// one; then chats that hold the text of added tokens in every place, none of which may become a
// token. goldens.jsonl of the demo model (--tokenizer: its GGUF, whose template is used): text and
// ids.
#include <algorithm>
#include <iomanip>
#include <locale>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "chat/prompt_builder.h"
#include "conformance/conformance.h"
#include "conformance/hostile_chats.h"
#include "conformance/tokens.h"
#include "gguf/file.h"

namespace smol::conformance {
namespace {

// By strptime's formats.
std::tm time_of(const std::string& text, const char* format) {
  std::tm out{};
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  in >> std::get_time(&out, format);
  if (in.fail()) {
    throw Error(ErrorCode::BadInput, "time: expected " + std::string(format) + ", found " + text);
  }
  return out;
}

// The variables of a context, as the chat layer takes them.
chat::PromptOptions options_of(const Json& variables) {
  chat::PromptOptions out;
  for (const auto& [key, value] : variables.items()) {
    if (key == "messages" || key == "strftime_now" || (key == "documents" && value.is_null())) {
      continue;
    }
    if (key == "tools") {
      out.tools = value.is_null() ? std::vector<Json>() : chat::tools_from_json(value);
    } else if (key == "python_tools") {
      out.python_tools = value.get<std::vector<std::string>>();
    } else if (key == "add_generation_prompt") {
      out.add_generation_prompt = value.get<bool>();
    } else if (key == "enable_thinking") {
      out.think = value.get<bool>() ? chat::ThinkMode::On : chat::ThinkMode::Off;
    } else {
      out.extra[key] = value;
    }
  }
  return out;
}

bool holds_added_token(const text::Tokenizer& tokenizer, const std::string& text) {
  const auto ids = tokenizer.encode(text);
  return std::ranges::any_of(ids, [&](TokenId id) { return tokenizer.is_added(id); });
}

bool refuses(const chat::PromptBuilder& builder, std::span<const chat::Message> messages,
             const chat::PromptOptions& options) {
  try {
    builder.build(messages, options);
    return false;
  } catch (const Error& error) {
    return std::string_view(error.what()).rfind("messages: ", 0) == 0;
  }
}

// Whether the chat layer leaves the messages as they are: the text must then be the golden one.
bool is_passed_through(const Json& context) {
  const Json& messages = context.at("vars").at("messages");
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Json& message = messages[i];
    const bool is_late_system = i > 0 && (message.at("role") == "system");
    if (is_late_system || !message.contains("content") || !message.at("content").is_string() ||
        message.contains("tool_calls") || message.contains("reasoning_content") ||
        message.at("role") == "developer") {
      return false;
    }
  }
  // JSON values here hold integers of 64 bits.
  return context.dump().find("e+29") == std::string::npos;
}

class SmolTemplates {
 public:
  SmolTemplates(const Options& options, Report& report) : options_(options), report_(report) {
    const Json contexts = parse_json(read_file(options.contexts), options.contexts.string());
    for (const Json& context : contexts) {
      contexts_.emplace(context.at("id").get<std::string>(), context);
    }
  }

  void check(const Json& record) {
    const auto name = record.at("template").get<std::string>();
    if (name.rfind("SmolLM", 0) != 0 || !record.contains("expected")) {
      return;
    }
    const auto& context = contexts_.at(record.at("context").get<std::string>());
    const std::string id = name + "/" + record.at("context").get<std::string>();
    const text::Tokenizer& tokenizer = tokenizer_of(name);
    const Json& variables = context.at("vars");
    if (holds_added_token(tokenizer, variables.at("messages").dump()) ||
        holds_added_token(tokenizer, variables.at("tools").dump())) {
      return;
    }
    std::vector<chat::Message> messages;
    try {
      messages = chat::messages_from_json(variables.at("messages"));
    } catch (const Error& error) {
      report_.skip(id, error.what());  // an unknown role, or content that is no text
      return;
    }
    chat::PromptOptions prompt_options = options_of(variables);
    prompt_options.continue_final_message = context.value("continue_final_message", false);
    prompt_options.now = time_of(context.value("now", "2025-07-08T14:05:09"), "%Y-%m-%dT%H:%M:%S");
    const chat::PromptBuilder builder(read_file(options_.templates / (name + ".jinja")), tokenizer);
    Case one(report_, id);
    if (messages.empty()) {
      // The template would render it; a chat starts with a message all the same.
      if (!refuses(builder, messages, prompt_options)) {
        one.fail("no message", "an error that names messages", "a prompt");
      }
      return;
    }
    const chat::Prompt prompt = builder.build(messages, prompt_options);
    one.equal("ids", tokenizer.encode(prompt.text.bytes()), prompt.ids);
    if (is_passed_through(context)) {
      one.equal("text", record.at("expected").get<std::string>(), prompt.text.bytes());
    }
  }

  // Every chat against the same chat with harmless text: as many added tokens, and nothing lost.
  void check_hostile() {
    for (const std::string name : {"SmolLM3-3B", "SmolLM3-3B.gguf", "SmolLM2-Instruct"}) {
      const text::Tokenizer& tokenizer = tokenizer_of(name);
      const chat::PromptBuilder builder(read_file(options_.templates / (name + ".jinja")),
                                        tokenizer);
      for (const HostileChat& chat : hostile_chats()) {
        Case one(report_, name + "/" + chat.id);
        const chat::Prompt harmless = builder.build(chat.harmless, chat.harmless_options);
        const chat::Prompt hostile = builder.build(chat.messages, chat.options);
        one.equal("added tokens", added_of(tokenizer, harmless.ids),
                  added_of(tokenizer, hostile.ids));
        one.equal("text", hostile.text.bytes(), tokenizer.decode(hostile.ids, false));
      }
    }
  }

 private:
  static Ids added_of(const text::Tokenizer& tokenizer, const Ids& ids) {
    Ids out;
    std::ranges::copy_if(ids, std::back_inserter(out),
                         [&](TokenId id) { return tokenizer.is_added(id); });
    return out;
  }

  const text::Tokenizer& tokenizer_of(const std::string& template_name) {
    const std::string vocab = template_name.rfind("SmolLM3", 0) == 0 ? "smollm3" : "smollm2";
    auto found = tokenizers_.find(vocab);
    if (found == tokenizers_.end()) {
      const char* ending = options_.gguf ? "_vocab.gguf" : "_tokenizer.json";
      found =
          tokenizers_.emplace(vocab, text::Tokenizer::open(options_.tokenizers / (vocab + ending)))
              .first;
    }
    return found->second;
  }

  const Options& options_;
  Report& report_;
  std::map<std::string, Json> contexts_;
  std::map<std::string, text::Tokenizer> tokenizers_;
};

void check_demo(const Json& record, const chat::PromptBuilder& builder, Report& report) {
  const Json& arguments = record.at("template_args");
  chat::PromptOptions options = options_of(arguments);
  options.now = time_of(arguments.at("strftime_now").get<std::string>(), "%d %B %Y");
  std::vector<chat::Message> messages = chat::messages_from_json(record.at("messages"));
  for (chat::Message& message : messages) {
    if (message.role == chat::Role::Assistant) {
      chat::mark_assistant_text(message, !options.tools.empty(), !options.python_tools.empty());
    }
  }
  const chat::Prompt prompt = builder.build(messages, options);
  Case one(report, record.at("name").get<std::string>());
  one.equal("text", record.at("prompt").get<std::string>(), prompt.text.bytes());
  one.equal("ids", record.at("prompt_ids").get<Ids>(), prompt.ids);
}

void run_demo_prompts(const Options& options, Report& report) {
  const gguf::File file = gguf::File::open(options.tokenizer);
  const text::Tokenizer tokenizer = text::Tokenizer::from_gguf(file);
  const auto source = file.metadata().string("tokenizer.chat_template");
  if (!source) {
    throw Error(ErrorCode::NotFound, options.tokenizer.string() + ": no tokenizer.chat_template");
  }
  const chat::PromptBuilder builder(*source, tokenizer);
  for_each_record(options.cases, report, [&](const Json& record, const std::string&) {
    check_demo(record, builder, report);
  });
}

}  // namespace

void run_prompts(const Options& options, Report& report) {
  if (!options.tokenizer.empty()) {
    run_demo_prompts(options, report);
    return;
  }
  require_option(options.templates, "--templates");
  require_option(options.contexts, "--contexts");
  require_option(options.tokenizers, "--tokenizers");
  SmolTemplates templates(options, report);
  for_each_record(options.cases, report,
                  [&](const Json& record, const std::string&) { templates.check(record); });
  templates.check_hostile();
}

}  // namespace smol::conformance
