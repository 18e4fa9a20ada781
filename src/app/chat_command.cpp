// `smolbot chat`: a conversation in the terminal.
#include <cstdlib>
#include <memory>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>

#include "app/answer_view.h"
#include "app/commands.h"
#include "app/console.h"
#include "app/flags.h"
#include "app/interrupt.h"
#include "app/line_reader.h"
#include "app/model_choice.h"
#include "app/open_model.h"
#include "app/options.h"
#include "app/program.h"
#include "app/progress.h"
#include "app/slash_commands.h"
#include "base/error.h"

namespace smol::app {

namespace {

struct ChatCommand {
  ModelOptions model;
  ConversationOptions conversation;
  AnswerOptions answer;
  std::optional<std::filesystem::path> history;
};

// The XDG Base Directory Specification's place for what is neither settings nor data.
std::filesystem::path default_history_file() {
  // Elsewhere an empty variable is none; here it says: nowhere.
  const char* asked = std::getenv("SMOLBOT_HISTORY");
  if (asked != nullptr && *asked == '\0') {
    return {};
  }
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if (state != nullptr && *state != '\0') {
    return std::filesystem::path(state) / "smolbot" / "history";
  }
  return home == nullptr ? std::filesystem::path()
                         : std::filesystem::path(home) / ".local/state/smolbot/history";
}

constexpr const char* kMakeRoom =
    "/clear and /undo make room in the context; --context gives more.";

std::string model_name(const gguf::File& file) {
  const std::optional<std::string_view> name = file.metadata().string("general.name");
  return safe_for_terminal(name.value_or(file.name()));
}

class TerminalChat {
 public:
  TerminalChat(Conversationalist& model, Conversation conversation, const ChatCommand& command);

  // Until the input ends. Status kFailed if standard input is no terminal and a turn failed.
  int run();

 private:
  bool step(const InputLine& line);
  void answer();
  chat::TurnFinished reply(const InterruptGuard& guard, AnswerView& view, Progress& progress);
  void tell(const std::string& text) const;

  Conversationalist& model_;
  Conversation conversation_;
  bool interactive_;
  ViewStyle style_;
  std::optional<InterruptGuard> guard_;  // of the whole session, where a terminal reads the lines
  std::unique_ptr<LineReader> reader_;
  bool failed_ = false;
};

TerminalChat::TerminalChat(Conversationalist& model, Conversation conversation,
                           const ChatCommand& command)
    : model_(model),
      conversation_(std::move(conversation)),
      interactive_(is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO)),
      style_{.terminal = is_terminal(STDOUT_FILENO), .colour = wants_colour(STDOUT_FILENO)} {
  if (interactive_) {
    guard_.emplace();
    reader_ = make_terminal_reader(*guard_, command.history.value_or(default_history_file()),
                                   Conversation::command_names());
  } else {
    reader_ = make_plain_reader();
  }
}

int TerminalChat::run() {
  if (interactive_) {
    tell(fmt::format("smolbot: {}, context {} tokens. /help lists the commands.",
                     model_name(model_.assistant.runtime.file), model_.assistant.engine.context()));
  }
  while (step(reader_->read("> "))) {
  }
  return failed_ && !interactive_ ? kFailed : kSuccess;
}

// Returns whether another line is to be read.
bool TerminalChat::step(const InputLine& line) {
  if (line.kind == InputLine::Kind::End) {
    print(interactive_ ? "\n" : "");
    return false;
  }
  if (line.kind == InputLine::Kind::Interrupted) {
    tell("/quit or Ctrl-D ends the program.");
    return true;
  }
  const Conversation::Step step = conversation_.take(line.text);
  if (!step.text.empty()) {
    tell(safe_for_terminal(step.text));
  }
  if (step.next == Conversation::Next::Answer) {
    answer();
  }
  return step.next != Conversation::Next::Quit;
}

void TerminalChat::tell(const std::string& text) const {
  print(dimmed(text, style_.colour) + "\n");
}

void TerminalChat::answer() {
  std::optional<InterruptGuard> own;
  if (!guard_) {
    own.emplace();
  }
  const InterruptGuard& guard = guard_ ? *guard_ : *own;
  Progress progress{"reading prompt"};
  AnswerView view{style_, [](std::string_view text) { print(text); }};
  try {
    chat::TurnFinished finished = reply(guard, view, progress);
    view.finish();
    const chat::TurnUsage& usage = finished.usage;
    const std::size_t context = model_.assistant.engine.context();
    const std::string ending = ending_note(finished, context);
    if (!ending.empty()) {
      tell(ending);
    }
    if (finished.end == chat::TurnEnd::ContextFull) {
      tell(kMakeRoom);
    }
    // A turn stopped before its first token has read only a part of the prompt.
    if (style_.terminal && usage.generated_tokens > 0) {
      tell(statistics_line(usage, context));
    }
    if (usage.generated_tokens == 0) {
      conversation_.drop_unanswered();
    } else {
      conversation_.add_answer(std::move(finished.message),
                               usage.prompt_tokens + usage.generated_tokens);
    }
  } catch (const Error& error) {
    view.finish();
    progress.clear();
    conversation_.drop_unanswered();
    note(error_line(error.what()));
    if (interactive_ &&
        std::string_view(error.what()).find("(the context)") != std::string_view::npos) {
      tell(kMakeRoom);
    }
    failed_ = true;
  }
  guard.take();
}

chat::TurnFinished TerminalChat::reply(const InterruptGuard& guard, AnswerView& view,
                                       Progress& progress) {
  const StopOnInterrupt stop{guard};
  return chat::reply(
      model_.service, conversation_.messages(), conversation_.options(),
      [&](const chat::AnswerEvent& event) {
        progress.clear();
        view.show(event);
      },
      stop.token(),
      [&progress](const chat::TurnProgress& moment) { show_reading(progress, moment); });
}

int run(const ChatCommand& command) {
  chat::TurnOptions options;
  options.prompt = prompt_options(command.conversation);
  const ModelChoice choice = choose_model_and_tell(command.model.model);
  Conversationalist model{choice.path, command.model};
  const Assistant& assistant = model.assistant;
  options.answer.sampling = sampling_settings(command.answer, assistant.runtime.weights.config());
  options.answer.max_tokens = command.answer.max_tokens;
  options.answer.stop_strings = command.answer.stop;
  Conversation conversation{
      std::move(options),
      {.model = model_name(assistant.runtime.file), .context = assistant.engine.context()},
      command.conversation.system.value_or("")};
  return TerminalChat{model, std::move(conversation), command}.run();
}

}  // namespace

void add_chat_command(CLI::App& program, Plan& plan) {
  auto state = std::make_shared<ChatCommand>();
  CLI::App& command = add_command(program, "chat", "a conversation in the terminal", plan,
                                  [state] { return run(*state); });
  add_file_options(command, state->model);
  add_template_option(command, state->model);
  add_compute_options(command, state->model);
  add_conversation_options(command, state->conversation);
  add_answer_options(command, state->answer);
  add_path(command,
           {"--history", "where typed lines are kept; empty: nowhere",
            "smolbot/history in $XDG_STATE_HOME or ~/.local/state"},
           state->history);
}

}  // namespace smol::app
