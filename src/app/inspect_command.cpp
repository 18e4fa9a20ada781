#include <memory>
#include <sstream>

#include "app/commands.h"
#include "app/console.h"
#include "app/flags.h"
#include "app/inspect.h"

namespace smol::app {

void add_inspect_command(CLI::App& program, Plan& plan) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App& command =
      add_command(program, "inspect", "shows what a GGUF file holds", plan, [options] {
        std::ostringstream report;
        const int status = run_inspect(*options, report);
        print(report.str());
        return status;
      });
  add_input_file(command, "FILE", "a GGUF file", true, options->file);
  add_switch(command, {"--json", "as JSON", "off"}, [options](bool on) { options->json = on; });
}

}  // namespace smol::app
