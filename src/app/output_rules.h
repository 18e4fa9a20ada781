// Where a command may write the file that was named.
#pragma once

#include <filesystem>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/output_file.h"

namespace smol::app {

// --force
void add_force_option(CLI::App& command, bool& force);

// Proven before any work is done: throws Error{BadInput} if `output` is one of the command's
// `inputs` (by whatever name) or, without `force`, is there already.
OutputRules output_rules(const std::filesystem::path& output, bool force,
                         const std::vector<std::filesystem::path>& inputs);

}  // namespace smol::app
