#include "app/line_reader.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

namespace smol::app {

namespace {

class PlainReader final : public LineReader {
 public:
  InputLine read(const std::string& /*prompt*/) override {
    std::string line;
    if (!std::getline(std::cin, line)) {
      return {InputLine::Kind::End, {}};
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
    if (history_file_.empty()) {
      return;
    }
    std::error_code ignored;
    std::filesystem::create_directories(history_file_.parent_path(), ignored);
    const mode_t before = ::umask(S_IRWXG | S_IRWXO);
    write_history(history_file_.c_str());
    ::umask(before);
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
