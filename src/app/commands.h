// One function a command, each in a file of its own: declares the flags; when the command is the
// one that was named, `plan` becomes what runs it and returns the exit status.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace smol::app {

using Plan = std::function<int()>;

// What they all begin with. Values are read while the command line is parsed, then the plan is set.
CLI::App& add_command(CLI::App& program, const std::string& name, const std::string& help,
                      Plan& plan, Plan run);

// What the command's --help ends with.
void add_footer(CLI::App& command, const std::string& text);

void add_serve_command(CLI::App& program, Plan& plan);
void add_chat_command(CLI::App& program, Plan& plan);
void add_run_command(CLI::App& program, Plan& plan);
void add_bench_command(CLI::App& program, Plan& plan);
void add_inspect_command(CLI::App& program, Plan& plan);
void add_doctor_command(CLI::App& program, Plan& plan);
void add_quantize_command(CLI::App& program, Plan& plan);
void add_tokenize_command(CLI::App& program, Plan& plan);
void add_template_command(CLI::App& program, Plan& plan);
void add_logits_command(CLI::App& program, Plan& plan);
void add_eval_command(CLI::App& program, Plan& plan);

}  // namespace smol::app
