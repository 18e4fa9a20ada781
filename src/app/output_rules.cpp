#include "app/output_rules.h"

#include <system_error>

#include "app/flags.h"
#include "base/error.h"

namespace smol::app {

void add_force_option(CLI::App& command, bool& force) {
  add_switch(command, {"--force", "replaces an output file that is there already", "off"},
             [&force](bool on) { force = on; });
}

OutputRules output_rules(const std::filesystem::path& output, bool force,
                         const std::vector<std::filesystem::path>& inputs) {
  for (const std::filesystem::path& input : inputs) {
    std::error_code ignored;
    if (std::filesystem::equivalent(input, output, ignored)) {
      throw Error{ErrorCode::BadInput,
                  output.string() + ": expected another file than the input, found the same"};
    }
  }
  const OutputRules rules{.replace = force};
  check_output_path(output, rules, " (--force replaces it)");
  return rules;
}

}  // namespace smol::app
