// Lines that a person types, or that a file or pipe holds.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/interrupt.h"

namespace smol::app {

struct InputLine {
  enum class Kind { Text, End, Interrupted };
  Kind kind;
  std::string text;
};

// One at a time, one thread.
class LineReader {
 public:
  virtual ~LineReader() = default;
  virtual InputLine read(const std::string& prompt) = 0;
};

// Standard input as it comes, without a prompt.
std::unique_ptr<LineReader> make_plain_reader();

// GNU readline on the terminal: editing, history (kept in `history_file`, mode 0600, unless that is
// empty) and completion of `commands` at the start of a line. Ctrl-C, caught by `guard`, gives
// Interrupted.
std::unique_ptr<LineReader> make_terminal_reader(const InterruptGuard& guard,
                                                 std::filesystem::path history_file,
                                                 std::vector<std::string> commands);

}  // namespace smol::app
