// Which model file a command uses: --model or SMOLBOT_MODEL; else the newest SmolLM3 in models/;
// else the demo model that the repository carries.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace smol::app {

struct ModelChoice {
  std::filesystem::path path;
  bool is_fallback = false;  // nothing was asked for and no SmolLM3 found: the demo
};

// Folders that may hold models/: the working directory, and the repository that this program was
// built in (build/<preset>/bin/smolbot).
std::vector<std::filesystem::path> model_roots();

// Throws Error{NotFound} if `asked` names no file, or nothing is found in any root. A file in
// models/ that cannot be read as GGUF is passed over.
ModelChoice choose_model(const std::optional<std::filesystem::path>& asked,
                         const std::vector<std::filesystem::path>& roots);

// The same with model_roots(); a fallback is said on standard error.
ModelChoice choose_model_and_tell(const std::optional<std::filesystem::path>& asked);

}  // namespace smol::app
