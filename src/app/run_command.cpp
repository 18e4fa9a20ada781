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
#include "base/mailbox.h"
#include "base/utf8.h"
#include "chat/blocking_turn.h"
#include "chat/running_turn.h"
#include "chat/stop_strings.h"
#include "engine/request.h"
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
int status_of(const chat::TurnFinished& finished, std::size_t context, bool wrote_any) {
  const bool cut =
      finished.end == chat::TurnEnd::ContextFull || finished.end == chat::TurnEnd::Cancelled;
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

  void operator()(const chat::AnswerEvent& event) {
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
    }
  }

  void finish() { output_.end_line(); }

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

// Text of an answer without a template, for the thread that waits.
class RawSink final : public engine::Sink {
 public:
  using News = std::variant<engine::Progress, std::string, engine::Result, Error>;

  RawSink(const text::Tokenizer& tokenizer, std::vector<std::string> stops)
      : decoder_{tokenizer, true}, stops_{std::move(stops)} {}

  void on_progress(const engine::Progress& progress) noexcept override { mail.push(progress); }

  bool on_token(const engine::Token& token) noexcept override {
    send(stops_.push({.text = decoder_.push(token.id)}));
    return !stops_.stopped();
  }

  void on_finished(const engine::Result& result) noexcept override {
    send(stops_.push({.text = decoder_.flush()}));
    send(stops_.flush());
    mail.push(result);
  }

  void on_failed(const Error& error) noexcept override { mail.push(error); }

  Mailbox<News> mail;

 private:
  void send(const std::vector<chat::Piece>& pieces) {
    for (const chat::Piece& piece : pieces) {
      mail.push(piece.text);
    }
  }

  text::StreamDecoder decoder_;
  chat::StopStrings stops_;
};

int run_chat_turn(const RunCommand& command, const std::string& prompt) {
  chat::TurnOptions options;
  options.prompt = prompt_options(command.conversation);
  const ModelChoice choice = choose_model_and_tell(command.model.model);
  Conversationalist model{choice.path, command.model};
  options.answer.sampling =
      sampling_settings(command.answer, model.assistant.runtime.weights.config());
  options.answer.max_tokens = command.answer.max_tokens;
  options.answer.stop_strings = command.answer.stop;
  std::vector<chat::Message> history;
  if (command.conversation.system) {
    history.push_back(text_message(chat::Role::System, *command.conversation.system));
  }
  history.push_back(text_message(chat::Role::User, prompt));
  Progress progress{"reading prompt"};
  EventPrinter printer{progress};
  const chat::TurnFinished finished = chat::reply(
      model.service, history, options,
      [&printer](const chat::AnswerEvent& event) { printer(event); }, {},
      [&progress](const chat::TurnProgress& moment) { show_reading(progress, moment); });
  progress.clear();
  printer.finish();
  return status_of(finished, model.assistant.engine.context(), printer.wrote_any());
}

// The prompt is all the model sees: added tokens in it count, and what it writes is shown as it is.
int run_raw(const RunCommand& command, const std::string& prompt) {
  const ModelChoice choice = choose_model_and_tell(command.model.model);
  Assistant model{choice.path, command.model};
  const text::Tokenizer& tokenizer = model.tokenizer;
  engine::Request request;
  request.prompt = tokenizer.encode(prompt);
  request.sampling = sampling_settings(command.answer, model.runtime.weights.config());
  request.max_tokens = command.answer.max_tokens;
  request.ends_turn = [&tokenizer](TokenId id) { return tokenizer.ends_turn(id); };
  const auto sink = std::make_shared<RawSink>(tokenizer, command.answer.stop);
  model.engine.submit(std::move(request), sink);
  AnswerOutput output;
  Progress progress{"reading prompt"};
  while (true) {
    const RawSink::News news = sink->mail.pop();
    if (const auto* read = std::get_if<engine::Progress>(&news)) {
      if (read->phase == engine::Phase::Reading) {
        progress.update(read->read_tokens, read->prompt_tokens);
      }
    } else if (const auto* text = std::get_if<std::string>(&news)) {
      progress.clear();
      output.write(*text);
    } else if (const auto* result = std::get_if<engine::Result>(&news)) {
      progress.clear();
      output.end_line();
      chat::TurnFinished finished;
      finished.end = chat::end_of(result->reason);
      finished.usage.generated_tokens = result->generated_tokens;
      return status_of(finished, model.engine.context(), output.wrote_any());
    } else {
      throw std::get<Error>(news);
    }
  }
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
