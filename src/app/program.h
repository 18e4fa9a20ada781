// The command line: which command, with which flags, and one line for whatever goes wrong.
#pragma once

#include <span>
#include <string>

namespace smol::app {

// Exit statuses beside a command's own.
inline constexpr int kSuccess = 0;
inline constexpr int kFailed = 1;    // the command ran and its answer is "no"
inline constexpr int kBadInput = 2;  // one line on standard error says what was expected and found

// `arguments` without the program's name. Never throws; returns the exit status.
int run_program(std::span<const char* const> arguments) noexcept;

// "smolbot: MESSAGE", whatever lines the message has, in one line.
std::string error_line(const std::string& message);

}  // namespace smol::app
