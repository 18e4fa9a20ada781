#include "app/line_reader.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <poll.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>
#include <readline/history.h>
#include <readline/readline.h>

#include "app/text_input.h"
#include "base/error.h"
#include "base/output_file.h"

namespace smol::app {

namespace {

class PlainReader final : public LineReader {
 public:
  InputLine read(const std::string& /*prompt*/) override {
    std::string line;
    std::streambuf& in = *std::cin.rdbuf();
    int next = in.sbumpc();
    if (next == std::streambuf::traits_type::eof()) {
      return {InputLine::Kind::End, {}};
    }
    for (; next != std::streambuf::traits_type::eof() && next != '\n'; next = in.sbumpc()) {
      line += static_cast<char>(next);
      if (line.size() > kMostPromptBytes) {
        throw Error{ErrorCode::BadInput,
                    fmt::format("standard input: expected lines of at most {} MiB, found more",
                                kMostPromptBytes / kMiB)};
      }
    }

    if (line.ends_with('\r')) {
      line.pop_back();
    }
    return {InputLine::Kind::Text, line};
  }
};

// readline calls plain functions: what they need lies here while a reader lives.
struct Callbacks {
  int interrupt = -1;
  bool interrupted = false;
  std::vector<std::string> commands;
};

Callbacks& callbacks() {
  static Callbacks shared;
  return shared;
}

// The next key. On Ctrl-C the line is emptied and, as if by Enter, ended.
int next_key(FILE* stream) {
  std::array<pollfd, 2> events{pollfd{::fileno(stream), POLLIN, 0},
                               pollfd{callbacks().interrupt, POLLIN, 0}};
  while (::poll(events.data(), events.size(), -1) < 0 && errno == EINTR) {
  }
  if ((events[1].revents & POLLIN) != 0) {
    callbacks().interrupted = true;
    rl_replace_line("", 0);
    return '\n';
  }
  return rl_getc(stream);
}

char* next_completion(const char* text, int state) {
  static std::size_t next = 0;
  next = state == 0 ? 0 : next;
  const std::vector<std::string>& commands = callbacks().commands;
  while (next < commands.size()) {
    const std::string& command = commands[next++];
    if (command.starts_with(text)) {
      return ::strdup(command.c_str());
    }
  }
  return nullptr;
}

char** complete(const char* text, int begin, int /*end*/) {
  rl_attempted_completion_over = 1;
  return begin == 0 ? rl_completion_matches(text, next_completion) : nullptr;
}

class TerminalReader final : public LineReader {
 public:
  TerminalReader(const InterruptGuard& guard, std::filesystem::path history_file,
                 std::vector<std::string> commands)
      : guard_(guard), history_file_(std::move(history_file)) {
    callbacks() = {.interrupt = guard.descriptor(), .commands = std::move(commands)};
    rl_readline_name = "smolbot";
    rl_catch_signals = 0;
    rl_getc_function = next_key;
    rl_attempted_completion_function = complete;
    rl_completer_word_break_characters = " ";
    using_history();
    stifle_history(kMostLines);
    if (!history_file_.empty()) {
      read_history(history_file_.c_str());
    }
  }

  TerminalReader(const TerminalReader&) = delete;
  TerminalReader& operator=(const TerminalReader&) = delete;

  ~TerminalReader() override {
    if (!history_file_.empty()) {
      try {
        write_lines();
      } catch (const Error&) {
        // The lines of this session are lost; the conversation was not about them.
      }
    }
  }

  InputLine read(const std::string& prompt) override {
    callbacks().interrupted = false;
    const std::unique_ptr<char, decltype(&std::free)> line{::readline(prompt.c_str()), &std::free};
    if (callbacks().interrupted) {
      guard_.take();
      return {InputLine::Kind::Interrupted, {}};
    }
    if (line == nullptr) {
      return {InputLine::Kind::End, {}};
    }
    std::string text = line.get();
    if (!text.empty()) {
      add_history(line.get());
    }
    return {InputLine::Kind::Text, std::move(text)};
  }

 private:
  static constexpr int kMostLines = 1000;

  void write_lines() const {
    std::error_code error;
    std::filesystem::create_directories(history_file_.parent_path(), error);
    // Some keep such files elsewhere, behind a link.
    const std::filesystem::path target = std::filesystem::canonical(history_file_, error);
    OutputFile file{error ? history_file_ : target, {.replace = true, .owner_only = true}};
    HIST_ENTRY** entries = history_list();
    for (std::size_t i = 0; entries != nullptr && entries[i] != nullptr; ++i) {
      file.write(std::string(entries[i]->line) + "\n");
    }
    file.finish();
  }

  const InterruptGuard& guard_;
  std::filesystem::path history_file_;
};

}  // namespace

std::unique_ptr<LineReader> make_plain_reader() {
  return std::make_unique<PlainReader>();
}

std::unique_ptr<LineReader> make_terminal_reader(const InterruptGuard& guard,
                                                 std::filesystem::path history_file,
                                                 std::vector<std::string> commands) {
  return std::make_unique<TerminalReader>(guard, std::move(history_file), std::move(commands));
}

}  // namespace smol::app
