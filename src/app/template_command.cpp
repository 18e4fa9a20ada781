// `smolbot template`: the prompt that a conversation becomes.
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands.h"
#include "app/console.h"
#include "app/flags.h"
#include "app/model_choice.h"
#include "app/open_model.h"
#include "app/options.h"
#include "app/text_input.h"
#include "app/text_message.h"
#include "base/error.h"
#include "base/json.h"

namespace smol::app {

namespace {

struct TemplateCommand {
  ModelOptions model;
  ConversationOptions conversation;
  std::optional<std::string> text;
  std::optional<std::filesystem::path> messages;
  bool generation_prompt = true;
  bool as_ids = false;
};

std::vector<chat::Message> messages_of(const TemplateCommand& command) {
  if (command.messages && command.text) {
    throw Error{ErrorCode::BadInput, "template: expected TEXT or --messages, found both"};
  }
  std::vector<chat::Message> messages;
  if (command.conversation.system) {
    messages.push_back(text_message(chat::Role::System, *command.conversation.system));
  }
  if (command.messages) {
    const std::string path = command.messages->string();
    const std::string text = path == "-" ? read_standard_input(kMostPromptBytes)
                                         : read_text_file(path, "--messages", kMostPromptBytes);
    const Json parsed = parse_json(text, "--messages: " + path);
    for (chat::Message& message : chat::messages_from_json(parsed)) {
      messages.push_back(std::move(message));
    }
    return messages;
  }
  const std::string text = command.text ? *command.text : read_standard_input(kMostPromptBytes);
  messages.push_back(text_message(chat::Role::User, text));
  return messages;
}

int run(const TemplateCommand& command) {
  chat::PromptOptions options = prompt_options(command.conversation);
  options.add_generation_prompt = command.generation_prompt;
  const std::vector<chat::Message> messages = messages_of(command);
  const gguf::File file = gguf::File::open(choose_model_and_tell(command.model.model).path);
  const text::Tokenizer tokenizer = open_tokenizer(file, command.model);
  const chat::PromptBuilder builder = make_prompt_builder(file, command.model, tokenizer);
  if (command.as_ids) {
    print(fmt::format("{}\n", fmt::join(builder.build(messages, options).ids, ",")));
  } else {
    print_text(builder.render(messages, options).text.bytes());
  }
  return 0;
}

}  // namespace

void add_template_command(CLI::App& program, Plan& plan) {
  auto state = std::make_shared<TemplateCommand>();
  CLI::App& command =
      add_command(program, "template", "shows the prompt that a conversation becomes", plan,
                  [state] { return run(*state); });
  add_positional(command, "TEXT", "a user's message; without it standard input is read", false,
                 [state](const auto&, const auto& text) { state->text = text; });
  add_value(command,
            {"--messages",
             "a file with a JSON list of messages, in place of TEXT; - for standard input", "none"},
            "FILE", [state](const auto& what, const auto& text) {
              state->messages =
                  text == "-" ? std::filesystem::path(text) : existing_text(what, text);
            });
  add_file_options(command, state->model);
  add_template_option(command, state->model);
  add_conversation_options(command, state->conversation);
  add_switch(command, {"--no-generation-prompt", "leaves out the start of the answer", "off"},
             [state](bool on) { state->generation_prompt = !on; });
  add_switch(command, {"--ids", "shows the token ids in place of the text", "off", "template"},
             [state](bool on) { state->as_ids = on; });
}

}  // namespace smol::app
