// The conversation of the terminal chat, and the /commands that change it. Knows no terminal and no
// model.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "chat/blocking_turn.h"

namespace smol::app {

// What the terminal tells of itself on /status.
struct ChatFacts {
  std::string model;
  std::size_t context = 0;
};

class Conversation {
 public:
  enum class Next {
    Read,    // show `text` (unless empty) and read another line
    Answer,  // the model's turn
    Quit
  };

  struct Step {
    Next next;
    std::string text;
  };

  Conversation(chat::TurnOptions options, ChatFacts facts, const std::string& system);

  // A line from the user: a message, or a /command ("//" begins a message with one slash). What is
  // wrong with a command is said in the text.
  Step take(std::string_view line);

  const std::vector<chat::Message>& messages() const noexcept { return messages_; }

  const chat::TurnOptions& options() const noexcept { return options_; }

  // The model's answer; tokens in use are what the context then holds.
  void add_answer(chat::Message answer, std::size_t used_tokens);
  // The turn failed or was stopped before it began: its user message is taken back.
  void drop_unanswered();

  // "/help", "/clear", ...
  static std::vector<std::string> command_names();

 private:
  struct Command;
  static const std::vector<Command>& commands();

  Step help(const std::string& argument);
  Step clear(const std::string& argument);
  Step set_thinking(chat::ThinkMode mode);
  Step set_temperature(const std::string& argument);
  Step set_system(const std::string& argument);
  Step export_to(const std::string& argument);
  Step status(const std::string& argument);
  Step undo(const std::string& argument);
  Step regenerate(const std::string& argument);
  Step add_result(const std::string& argument);

  struct LastCalls {
    const chat::Message* caller;  // nullptr: none
    std::size_t n_results;
  };

  LastCalls last_calls() const noexcept;
  // Calls of the last assistant message that have no result yet.
  std::size_t open_calls() const noexcept;
  bool drop_last_turn();

  chat::TurnOptions options_;
  ChatFacts facts_;
  std::vector<chat::Message> messages_;
  std::size_t used_tokens_ = 0;
};

// A conversation as Markdown.
std::string to_markdown(const std::vector<chat::Message>& messages);

}  // namespace smol::app
