// Which model file a command uses: --model or SMOLBOT_MODEL; else the newest SmolLM3 in models/;
// else the demo model that the repository carries.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace smol::app {

struct ModelChoice {
  std::filesystem::path path;
  bool is_fallback = false;  // nothing was asked for and no SmolLM3 found: the demo
  std::size_t n_found = 0;   // GGUF files in models/, where nothing was asked for
  std::vector<std::string> left_out =
      {};  // newer ones of them that are no whole SmolLM3: file and why
};

// Folders that may hold models/: the working directory, and the repository that this program was
// built in (build/<preset>/bin/smolbot).
std::vector<std::filesystem::path> model_roots();

// Whether the file is the demo model, by its name.
bool is_demo_model(const std::filesystem::path& path);

// Throws Error{NotFound} if `asked` names no file, or nothing is found in any root. A file in
// models/ that is no whole SmolLM3 is left out.
ModelChoice choose_model(const std::optional<std::filesystem::path>& asked,
                         const std::vector<std::filesystem::path>& roots);

// The same with model_roots(); on standard error it says what was left out, which of several files
// answers, and that the demo does.
ModelChoice choose_model_and_tell(const std::optional<std::filesystem::path>& asked);

}  // namespace smol::app
