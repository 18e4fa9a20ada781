#include <memory>
#include <optional>
#include <sstream>

#include "app/commands.h"
#include "app/console.h"
#include "app/flags.h"
#include "app/output_rules.h"
#include "app/progress.h"
#include "app/quantize.h"
#include "base/thread_pool.h"

namespace smol::app {

namespace {

struct QuantizeCommand {
  QuantizeOptions options;
  std::optional<std::size_t> threads;
};

int run(const QuantizeCommand& command) {
  QuantizeOptions options = command.options;
  options.n_threads = command.threads.value_or(default_thread_count());
  std::ostringstream report;
  Progress progress{"quantizing"};
  const int status = run_quantize(
      options, report,
      [&progress](std::uint64_t done, std::uint64_t total) { progress.update(done, total); });
  progress.clear();
  print(report.str());
  return status;
}

}  // namespace

void add_quantize_command(CLI::App& program, Plan& plan) {
  auto state = std::make_shared<QuantizeCommand>();
  CLI::App& command =
      add_command(program, "quantize", "rewrites an F32, F16 or BF16 GGUF in a smaller type", plan,
                  [state] { return run(*state); });
  QuantizeOptions& options = state->options;
  options.type = "Q4_K_M";
  add_input_file(command, "IN", "the GGUF file to read", true, options.input);
  add_positional(command, "OUT", "the GGUF file to write", true,
                 [&options](const auto&, const auto& text) { options.output = text; });
  add_force_option(command, options.force);
  add_value(command, {"--type", "Q8_0, Q4_0, Q4_K, Q6_K or Q4_K_M", options.type}, "TEXT",
            [&options](const auto& what, const auto& text) {
              static_cast<void>(parse_quantize_type(what, text));
              options.type = text;
            });
  add_count(command, {"-t,--threads", "threads to compute with", "physical cores allowed"},
            {1, 1024}, state->threads);
}

}  // namespace smol::app
