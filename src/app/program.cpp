#include "app/program.h"

#include <algorithm>
#include <csignal>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands.h"
#include "app/console.h"
#include "app/numbers.h"
#include "base/error.h"

namespace smol::app {

namespace {

void add_all_commands(CLI::App& program, Plan& plan) {
  add_serve_command(program, plan);
  add_chat_command(program, plan);
  add_run_command(program, plan);
  add_bench_command(program, plan);
  add_inspect_command(program, plan);
  add_doctor_command(program, plan);
  add_quantize_command(program, plan);
  add_tokenize_command(program, plan);
  add_template_command(program, plan);
  add_logits_command(program, plan);
  add_eval_command(program, plan);
}

std::string command_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) {
    names.push_back(command->get_name());
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// The command that was named, else the program.
const CLI::App& chosen(const CLI::App& program) {
  const std::vector<CLI::App*> commands = program.get_subcommands();
  return commands.empty() ? program : *commands.front();
}

// Whether the parser missed a value: of a flag ("--model: 1 required TEXT missing") or of an
// argument without a flag ("FILE is required").
bool is_missing_value(const CLI::ParseError& error) {
  const int code = error.get_exit_code();
  return code == static_cast<int>(CLI::ExitCodes::ArgumentMismatch) ||
         code == static_cast<int>(CLI::ExitCodes::RequiredError);
}

// The flag or argument that a message of the parser begins with.
std::string subject_of(const CLI::ParseError& error) {
  const std::string text = error.what();
  return text.substr(0, text.find_first_of(": "));
}

std::string unknown_command(const CLI::App& program, const std::string& word) {
  // The demo model's answers name it.
  const std::string_view hint =
      word == "pull"
          ? " (models are not fetched yet: put a GGUF file into models/, or name one with --model)"
          : "";
  return fmt::format("expected a command ({}), found {}{}", command_names(program), in_quotes(word),
                     hint);
}

std::string usage_message(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& command = chosen(program);
  const bool has_command = &command != &program;
  const std::string name = has_command ? command.get_name() + ": " : "";
  const std::vector<std::string> extras = program.remaining(true);
  if (!extras.empty()) {
    const std::string found = in_quotes(extras.front());
    if (!has_command && extras.front().front() != '-') {
      return unknown_command(program, extras.front());
    }
    return fmt::format("{}expected only what smolbot {}{}--help lists, found {}", name,
                       command.get_name() == "smolbot" ? "" : command.get_name(),
                       has_command ? " " : "", found);
  }
  if (is_missing_value(error)) {
    return name + subject_of(error) + ": expected a value, found none";
  }
  return name + error.what();
}

// CLI11 would take the next word for the value of "--history=": the empty value becomes a word.
std::vector<std::string> with_empty_values(const CLI::App& program,
                                           std::span<const char* const> arguments) {
  std::vector<std::string> words;
  const std::vector<const CLI::App*> commands =
      program.get_subcommands([&](const CLI::App* command) {
        return !arguments.empty() && command->get_name() == arguments.front();
      });
  bool flags_may_come = !commands.empty();
  for (const std::string word : arguments) {
    flags_may_come = flags_may_come && word != "--";
    const std::string name = word.substr(0, word.empty() ? 0 : word.size() - 1);
    const bool ends_empty = flags_may_come && word.starts_with("--") && word.ends_with('=');
    const CLI::Option* option = ends_empty ? commands.front()->get_option_no_throw(name) : nullptr;
    if (option != nullptr && option->get_items_expected_min() > 0) {
      words.push_back(name);
      words.emplace_back();
    } else {
      words.push_back(word);
    }
  }
  return words;
}

int parse_and_run(std::span<const char* const> arguments) {
  CLI::App program{"A private assistant that runs SmolLM3 on your own computer."};
  program.name("smolbot");
  program.set_version_flag("--version", SMOLBOT_VERSION);
  program.set_help_flag("-h,--help", "shows this");
  Plan plan;
  add_all_commands(program, plan);
  // CLI11 takes the arguments in reverse order.
  std::vector<std::string> words = with_empty_values(program, arguments);
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    program.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    if (!words.front().starts_with('-') && program.get_subcommands().empty()) {
      throw Error{ErrorCode::BadInput, unknown_command(program, words.front())};
    }
    print(program.help());
    return kSuccess;
  } catch (const CLI::CallForVersion&) {
    print(fmt::format("smolbot {}\n", SMOLBOT_VERSION));
    return kSuccess;
  } catch (const CLI::ParseError& error) {
    throw Error{ErrorCode::BadInput, usage_message(program, error)};
  }
  if (!plan) {
    throw Error{ErrorCode::BadInput,
                fmt::format("expected a command ({}), found none; smolbot --help says more",
                            command_names(program))};
  }
  return plan();
}

}  // namespace

std::string error_line(const std::string& message) {
  std::string line = "smolbot: ";
  std::string_view rest = message;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
    std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    // A caret points at something only below its line.
    if (!part.empty() && part != "^") {
      line += line.ends_with(": ") ? "" : " | ";
      line += part;
    }
  }
  return safe_for_terminal(line);
}

int run_program(std::span<const char* const> arguments) noexcept {
  // A reader that goes away shows as EPIPE, which print() turns into a quiet end.
  std::signal(SIGPIPE, SIG_IGN);
  // A file that grows beyond its limit shows as EFBIG, which gets a message.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return parse_and_run(arguments);
  } catch (const OutputClosed&) {
    return kFailed;
  } catch (const std::bad_alloc&) {
    note("smolbot: memory: expected enough for this command, found none left");
  } catch (const std::exception& error) {
    note(error_line(error.what()));
  }
  return kBadInput;
}

}  // namespace smol::app
