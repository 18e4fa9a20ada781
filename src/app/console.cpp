#include "app/console.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/utf8.h"

namespace smol::app {

namespace {

// errno of the failed write, 0 if all was written.
int write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return errno;
    }
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  return 0;
}

bool is_control(char32_t c) {
  return (c < U' ' && c != U'\n' && c != U'\t') || (c >= U'\x7f' && c < U'\xa0');
}

}  // namespace

bool is_terminal(int descriptor) noexcept {
  return ::isatty(descriptor) == 1;
}

bool wants_colour(int descriptor) noexcept {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool refused = no_color != nullptr && *no_color != '\0';
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  return is_terminal(descriptor) && !refused && !dumb;
}

void print(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == EPIPE) {
    throw OutputClosed{};
  }
  if (error != 0) {
    throw Error{ErrorCode::Io, fmt::format("standard output: expected to write {} bytes, found: {}",
                                           text.size(), std::strerror(error))};
  }
}

void print_text(std::string_view text) {
  print(is_terminal(STDOUT_FILENO) ? safe_for_terminal(text) : std::string(text));
}

void note(std::string_view line) {
  static_cast<void>(write_all(STDERR_FILENO, std::string(line) + "\n"));
}

std::string dimmed(std::string_view text, bool colour) {
  return colour ? fmt::format("\x1b[2m{}\x1b[0m", text) : std::string(text);
}

std::string safe_for_terminal(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const utf8::Step step = utf8::next(text);
    utf8::append(out, is_control(step.code_point) ? utf8::kReplacement : step.code_point);
    text.remove_prefix(step.length);
  }
  return out;
}

}  // namespace smol::app
