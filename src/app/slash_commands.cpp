#include "app/slash_commands.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "app/numbers.h"
#include "app/options.h"
#include "app/text_message.h"
#include "base/error.h"
#include "base/output_file.h"

namespace smol::app {

struct Conversation::Command {
  std::string name;
  std::string argument;  // as /help shows it
  std::string help;
  std::function<Step(Conversation&, const std::string&)> act;
};

const std::vector<Conversation::Command>& Conversation::commands() {
  using C = Conversation;
  static const std::vector<Command> kAll{
      {"/help", "", "shows this", &C::help},
      {"/clear", "", "forgets the conversation", &C::clear},
      {"/reset", "", "the same", &C::clear},
      {"/think", "", "thinks before answering",
       [](C& c, const std::string&) { return c.set_thinking(chat::ThinkMode::On); }},
      {"/no_think", "", "answers without thinking",
       [](C& c, const std::string&) { return c.set_thinking(chat::ThinkMode::Off); }},
      {"/temp", "N", "temperature; 0: always the most likely token", &C::set_temperature},
      {"/system", "TEXT", "sets the system message; without text: removes it", &C::set_system},
      {"/regenerate", "", "another answer to the last message", &C::regenerate},
      {"/undo", "", "takes the last message and its answer back", &C::undo},
      {"/result", "TEXT", "the result of a tool call", &C::add_result},
      {"/export", "FILE", "writes the conversation: JSON to FILE.json, else Markdown",
       &C::export_to},
      {"/status", "", "model, context and settings", &C::status},
      {"/quit", "", "ends the program; so do /exit and Ctrl-D",
       [](C&, const std::string&) {
         return Step{Next::Quit, ""};
       }},
      {"/exit", "", "the same",
       [](C&, const std::string&) {
         return Step{Next::Quit, ""};
       }},
  };
  return kAll;
}

namespace {

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  const std::size_t last = text.find_last_not_of(" \t");
  return first == std::string_view::npos ? "" : std::string(text.substr(first, last - first + 1));
}

std::string heading(chat::Role role) {
  switch (role) {
    case chat::Role::System:
      return "System";
    case chat::Role::User:
      return "User";
    case chat::Role::Assistant:
      return "Assistant";
    case chat::Role::Tool:
      return "Tool result";
  }
  return "";
}

Json to_json_list(const std::vector<chat::Message>& messages) {
  Json list = Json::array();
  for (const chat::Message& message : messages) {
    list.push_back(chat::to_json(message));
  }
  return list;
}

std::string thinking_text(chat::ThinkMode mode) {
  switch (mode) {
    case chat::ThinkMode::On:
      return "on";
    case chat::ThinkMode::Off:
      return "off";
    case chat::ThinkMode::Default:
      return "as the template does";
  }
  return "";
}

}  // namespace

std::string to_markdown(const std::vector<chat::Message>& messages) {
  std::string out;
  for (const chat::Message& message : messages) {
    out += fmt::format("## {}\n\n", heading(message.role));
    if (!message.reasoning.empty()) {
      out += fmt::format("<details><summary>Thoughts</summary>\n\n{}\n\n</details>\n\n",
                         message.reasoning);
    }
    if (!message.content.empty()) {
      out += message.content + "\n\n";
    }
    for (const chat::ToolCall& call : message.tool_calls) {
      out += fmt::format("```json\n{{\"name\": \"{}\", \"arguments\": {}}}\n```\n\n", call.name,
                         call.arguments);
    }
    for (const std::string& code : message.code_blocks) {
      out += fmt::format("```python\n{}\n```\n\n", code);
    }
  }
  return out;
}

Conversation::Conversation(chat::TurnOptions options, ChatFacts facts, const std::string& system)
    : options_(std::move(options)), facts_(std::move(facts)) {
  set_system(system);
}

std::vector<std::string> Conversation::command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    names.push_back(command.name);
  }
  return names;
}

Conversation::Step Conversation::take(std::string_view line) {
  if (trimmed(line).empty()) {
    return {Next::Read, ""};
  }
  if (!line.starts_with('/') || line.starts_with("//")) {
    line.remove_prefix(line.starts_with("//") ? 1 : 0);
    messages_.push_back(text_message(chat::Role::User, line));
    return {Next::Answer, ""};
  }
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string_view name = line.substr(0, space);
  for (const Command& command : commands()) {
    if (command.name == name) {
      return command.act(*this, trimmed(line.substr(space)));
    }
  }
  return {Next::Read,
          fmt::format("{}: expected a command that /help lists, or // to begin a message "
                      "with a slash",
                      name)};
}

void Conversation::add_answer(chat::Message answer, std::size_t used_tokens) {
  messages_.push_back(std::move(answer));
  used_tokens_ = used_tokens;
}

void Conversation::drop_unanswered() {
  if (!messages_.empty() && messages_.back().role != chat::Role::Assistant &&
      messages_.back().role != chat::Role::System) {
    messages_.pop_back();
  }
}

Conversation::Step Conversation::help(const std::string& /*argument*/) {
  std::string text;
  for (const Command& command : commands()) {
    text += fmt::format("{:<16} {}\n",
                        command.name + (command.argument.empty() ? "" : " ") + command.argument,
                        command.help);
  }
  return {Next::Read, text + "Ctrl-C           stops the answer"};
}

Conversation::Step Conversation::clear(const std::string& /*argument*/) {
  std::erase_if(messages_,
                [](const chat::Message& message) { return message.role != chat::Role::System; });
  used_tokens_ = 0;
  return {Next::Read, "The conversation is empty."};
}

Conversation::Step Conversation::set_thinking(chat::ThinkMode mode) {
  options_.prompt.think = mode;
  return {Next::Read, fmt::format("Thinking is {}.", thinking_text(mode))};
}

Conversation::Step Conversation::set_temperature(const std::string& argument) {
  try {
    options_.answer.sampling.temperature = parse_number("/temp", argument, {0.0, kMaxTemperature});
  } catch (const Error& error) {
    return {Next::Read, error.what()};
  }
  return {Next::Read, fmt::format("The temperature is {}.", options_.answer.sampling.temperature)};
}

Conversation::Step Conversation::set_system(const std::string& argument) {
  const bool has_one = !messages_.empty() && messages_.front().role == chat::Role::System;
  if (has_one) {
    messages_.erase(messages_.begin());
  }
  if (argument.empty()) {
    return {Next::Read, "There is no system message."};
  }
  messages_.insert(messages_.begin(), text_message(chat::Role::System, argument));
  return {Next::Read, "The system message is set."};
}

Conversation::Step Conversation::export_to(const std::string& argument) {
  if (argument.empty()) {
    return {Next::Read, "/export: expected a file name, found none"};
  }
  try {
    OutputFile file{argument};
    file.write(argument.ends_with(".json") ? to_json_list(messages_).dump(2) + "\n"
                                           : to_markdown(messages_));
    file.finish();
  } catch (const Error& error) {
    return {Next::Read, fmt::format("/export: {}", error.what())};
  }
  return {Next::Read, fmt::format("{} messages written to {}", messages_.size(), argument)};
}

Conversation::Step Conversation::status(const std::string& /*argument*/) {
  const engine::SamplingSettings& sampling = options_.answer.sampling;
  const std::size_t share = facts_.context == 0 ? 0 : 100 * used_tokens_ / facts_.context;
  return {Next::Read,
          fmt::format("model        {}\ncontext      {} of {} tokens ({} %)\nmessages     {}\n"
                      "thinking     {}\ntemperature  {}\ntop-p        {}\ntools        {}",
                      facts_.model, used_tokens_, facts_.context, share, messages_.size(),
                      thinking_text(options_.prompt.think), sampling.temperature, sampling.top_p,
                      options_.prompt.tools.size() + options_.prompt.python_tools.size())};
}

// Takes away everything from the last user message on.
bool Conversation::drop_last_turn() {
  const auto last =
      std::find_if(messages_.rbegin(), messages_.rend(),
                   [](const chat::Message& message) { return message.role == chat::Role::User; });
  if (last == messages_.rend()) {
    return false;
  }
  messages_.erase(last.base() - 1, messages_.end());
  return true;
}

Conversation::Step Conversation::undo(const std::string& /*argument*/) {
  return {Next::Read, drop_last_turn() ? "The last message is taken back."
                                       : "/undo: expected a message, found none"};
}

Conversation::Step Conversation::regenerate(const std::string& /*argument*/) {
  while (!messages_.empty() && messages_.back().role == chat::Role::Assistant) {
    messages_.pop_back();
  }
  if (messages_.empty() || messages_.back().role == chat::Role::System) {
    return {Next::Read, "/regenerate: expected a message to answer, found none"};
  }
  return {Next::Answer, ""};
}

// The last assistant message, if only tool results stand behind it, and how many.
Conversation::LastCalls Conversation::last_calls() const noexcept {
  std::size_t n_results = 0;
  for (auto message = messages_.rbegin(); message != messages_.rend(); ++message) {
    if (message->role == chat::Role::Assistant) {
      return {&*message, n_results};
    }
    if (message->role != chat::Role::Tool) {
      break;
    }
    ++n_results;
  }
  return {nullptr, 0};
}

std::size_t Conversation::open_calls() const noexcept {
  const auto [caller, n_results] = last_calls();
  const std::size_t n_calls =
      caller == nullptr ? 0 : caller->tool_calls.size() + caller->code_blocks.size();
  return n_calls > n_results ? n_calls - n_results : 0;
}

Conversation::Step Conversation::add_result(const std::string& argument) {
  if (open_calls() == 0) {
    return {Next::Read, "/result: expected a tool call to answer, found none"};
  }
  const auto [caller, n_results] = last_calls();
  chat::Message result = text_message(chat::Role::Tool, argument);
  if (n_results < caller->tool_calls.size()) {
    result.tool_call_id = caller->tool_calls[n_results].id;
    result.name = caller->tool_calls[n_results].name;
  }
  messages_.push_back(std::move(result));
  const std::size_t open = open_calls();
  return open == 0 ? Step{Next::Answer, ""}
                   : Step{Next::Read, fmt::format("{} more results (/result)", open)};
}

}  // namespace smol::app
