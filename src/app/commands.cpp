#include "app/commands.h"

#include <utility>

#include <CLI/CLI.hpp>

namespace smol::app {

CLI::App& add_command(CLI::App& program, const std::string& name, const std::string& help,
                      Plan& plan, Plan run) {
  CLI::App* command = program.add_subcommand(name, help);
  // Else CLI11 would read the environment variables of every command, not only of the one named.
  command->immediate_callback();
  command->callback([&plan, run = std::move(run)] { plan = run; });
  return *command;
}

void add_footer(CLI::App& command, const std::string& text) {
  command.footer(text);
}

}  // namespace smol::app
