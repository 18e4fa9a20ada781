// `smolbot run`: one answer on standard output and nothing else there.
#include <memory>
#include <optional>
#include <unistd.h>
#include <variant>

#include <fmt/format.h>

#include "app/answer_view.h"
#include "app/commands.h"
#include "app/console.h"
#include "app/flags.h"
#include "app/model_choice.h"
#include "app/open_model.h"
#include "app/options.h"
#include "app/program.h"
#include "app/progress.h"
#include "app/text_input.h"
#include "app/text_message.h"
#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "chat/stop_strings.h"
#include "text/stream_decoder.h"

namespace smol::app {

namespace {

struct RunCommand {
  ModelOptions model;
  ConversationOptions conversation;
  AnswerOptions answer;
  std::optional<std::string> prompt;
  bool raw = false;
};

// Standard output of this command: remembers whether the last line is ended.
class AnswerOutput {
 public:
  void write(std::string_view text) {
    if (!text.empty()) {
      wrote_any_ = true;
      print_text(text);
      ends_line_ = text.ends_with('\n');
    }
  }

  // `text` in a line of its own.
  void write_line(std::string_view text) {
    end_line();
    write(text);
    end_line();
  }

  void end_line() {
    if (!ends_line_) {
      write("\n");
    }
  }

  bool wrote_any() const noexcept { return wrote_any_; }

 private:
  bool wrote_any_ = false;
  bool ends_line_ = true;
};

// Thoughts go to standard error, and only where a person looks at it.
class ThoughtOutput {
 public:
  void write(std::string_view text) {
    if (terminal_) {
      const std::string shown = dimmed(safe_for_terminal(text), colour_);
      static_cast<void>(!::write(STDERR_FILENO, shown.data(), shown.size()));
      open_ = true;
    }
  }

  void end() {
    if (open_) {
      note("");
      open_ = false;
    }
  }

 private:
  bool terminal_ = is_terminal(STDERR_FILENO);
  bool colour_ = wants_colour(STDERR_FILENO);
  bool open_ = false;
};

std::string prompt_of(const RunCommand& command) {
  std::string prompt = command.prompt && *command.prompt != "-"
                           ? *command.prompt
                           : read_standard_input(kMostPromptBytes);
  if (!command.prompt && prompt.ends_with('\n')) {
    prompt.pop_back();
  }
  if (prompt.empty()) {
    throw Error{ErrorCode::BadInput,
                "run: prompt: expected a text, as argument or on standard input, found none"};
  }
  return utf8::to_valid(prompt);
}

// Success is an answer that came to its own end or to a limit that was asked for. A script can do
// nothing with none, or with what the context cut.
int status_of(const chat::Finished& finished, std::size_t context, bool wrote_any) {
  const bool cut = finished.generation.reason == engine::FinishReason::ContextFull ||
                   finished.generation.reason == engine::FinishReason::Cancelled;
  if (!wrote_any || !ended_normally(finished)) {
    note(fmt::format("smolbot: the answer {}{}: {}", wrote_any ? "ends here" : "is empty",
                     finished.cut_while_thinking ? ", cut while thinking" : "",
                     ending_reason(finished, context)));
  }
  return cut || finished.cut_while_thinking || !wrote_any ? kFailed : kSuccess;
}

class EventPrinter {
 public:
  explicit EventPrinter(Progress& progress) : progress_(progress) {}

  void operator()(const chat::TurnEvent& event) {
    progress_.clear();
    if (const auto* thought = std::get_if<chat::ThinkingDelta>(&event)) {
      thoughts_.write(thought->text);
      return;
    }
    thoughts_.end();
    if (const auto* text = std::get_if<chat::TextDelta>(&event)) {
      write_text(text->text);
    } else if (const auto* call = std::get_if<chat::ToolCall>(&event)) {
      output_.write_line(tool_call_json(*call));
    } else if (const auto* code = std::get_if<chat::CodeBlock>(&event)) {
      const Json line = {{"code", code->code}};
      output_.write_line(line.dump(-1, ' ', false, Json::error_handler_t::replace));
    } else {
      output_.end_line();
    }
  }

  bool wrote_any() const noexcept { return output_.wrote_any(); }

 private:
  // Newlines between thoughts and answer belong to neither.
  void write_text(std::string_view text) {
    if (!begun_) {
      const std::size_t first = text.find_first_not_of("\r\n");
      text = first == std::string_view::npos ? std::string_view() : text.substr(first);
    }
    begun_ = begun_ || !text.empty();
    output_.write(text);
  }

  Progress& progress_;
  AnswerOutput output_;
  ThoughtOutput thoughts_;
  bool begun_ = false;
};

int run_chat_turn(const RunCommand& command, const std::string& prompt) {
  chat::TurnOptions options;
  options.prompt = prompt_options(command.conversation);
  const ModelChoice choice = choose_model_and_tell(command.model.model);
  Conversationalist model{choice.path, command.model};
  options.sampling = sampling_settings(command.answer, model.assistant.runtime.weights.config());
  options.max_tokens = command.answer.max_tokens;
  options.stop_strings = command.answer.stop;
  std::vector<chat::Message> history;
  if (command.conversation.system) {
    history.push_back(text_message(chat::Role::System, *command.conversation.system));
  }
  history.push_back(text_message(chat::Role::User, prompt));
  Progress progress{"reading prompt"};
  EventPrinter printer{progress};
  const chat::TurnResult result = model.service.reply(
      history, options, [&printer](const chat::TurnEvent& event) { printer(event); }, {},
      [&progress](const engine::PrefillProgress& read) { progress.update(read.done, read.total); });
  return status_of(result.finished, model.assistant.generator.context(), printer.wrote_any());
}

// The prompt is all the model sees: added tokens in it count, and what it writes is shown as it is.
int run_raw(const RunCommand& command, const std::string& prompt) {
  const ModelChoice choice = choose_model_and_tell(command.model.model);
  Assistant model{choice.path, command.model};
  const text::Tokenizer& tokenizer = model.tokenizer;
  engine::GenerationRequest request;
  request.prompt = tokenizer.encode(prompt);
  request.sampling = sampling_settings(command.answer, model.runtime.weights.config());
  request.max_tokens = command.answer.max_tokens;
  request.ends_turn = [&tokenizer](TokenId id) { return tokenizer.ends_turn(id); };
  AnswerOutput output;
  text::StreamDecoder decoder{tokenizer, true};
  chat::StopStrings stops{command.answer.stop};
  const auto show = [&output](const std::vector<chat::Piece>& pieces) {
    for (const chat::Piece& piece : pieces) {
      output.write(piece.text);
    }
  };
  Progress progress{"reading prompt"};
  chat::Finished finished;
  finished.generation = model.generator.generate(
      request,
      [&](TokenId id) {
        progress.clear();
        show(stops.push({.text = decoder.push(id)}));
        return !stops.stopped();
      },
      [&progress](const engine::PrefillProgress& read) { progress.update(read.done, read.total); });
  if (!stops.stopped()) {
    show(stops.push({.text = decoder.flush()}));
    show(stops.flush());
  }
  output.end_line();
  return status_of(finished, model.generator.context(), output.wrote_any());
}

int run(const RunCommand& command) {
  const std::string prompt = prompt_of(command);
  return command.raw ? run_raw(command, prompt) : run_chat_turn(command, prompt);
}

}  // namespace

void add_run_command(CLI::App& program, Plan& plan) {
  auto state = std::make_shared<RunCommand>();
  CLI::App& command = add_command(program, "run", "writes one answer to standard output", plan,
                                  [state] { return run(*state); });
  add_footer(
      command,
      "Exit status: 0 for an answer, also where --stop or --max-tokens ended it; 1 for none, or "
      "one\n"
      "that the context cut; 2 for bad input. Whatever cut an answer is said on standard error.");
  add_positional(command, "PROMPT", "the message; without it, or for -, standard input is read",
                 false, [state](const auto&, const auto& text) { state->prompt = text; });
  add_switch(command,
             {"--raw", "no template: the model goes on from the prompt, special tokens in it count",
              "off"},
             [state](bool on) { state->raw = on; });
  add_file_options(command, state->model);
  add_template_option(command, state->model);
  add_compute_options(command, state->model);
  add_conversation_options(command, state->conversation);
  add_answer_options(command, state->answer);
}

}  // namespace smol::app
