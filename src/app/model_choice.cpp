#include "app/model_choice.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "app/console.h"
#include "base/error.h"
#include "gguf/file.h"

namespace smol::app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDemoFile = "models/demo/smollm3-demo-q8_0.gguf";

// A whole model, not a bare vocabulary.
bool is_smollm3(const fs::path& path) {
  try {
    const gguf::File file = gguf::File::open(path);
    return file.metadata().string("general.architecture") == "smollm3" && !file.tensors().empty();
  } catch (const Error&) {
    return false;
  }
}

struct Candidate {
  fs::file_time_type written;
  fs::path path;
};

void collect(const fs::path& folder, std::vector<Candidate>& found) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code entry_error;
    const fs::file_time_type written = entry.last_write_time(entry_error);
    if (!entry_error && entry.is_regular_file(entry_error) && entry.path().extension() == ".gguf") {
      found.push_back({written, entry.path()});
    }
  }
}

std::optional<fs::path> newest_smollm3(const std::vector<fs::path>& roots) {
  std::vector<Candidate> found;
  for (const fs::path& root : roots) {
    collect(root / "models", found);
  }
  std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return a.written != b.written ? a.written > b.written : a.path < b.path;
  });
  for (const Candidate& candidate : found) {
    if (is_smollm3(candidate.path)) {
      return candidate.path;
    }
  }
  return std::nullopt;
}

std::optional<fs::path> demo_model(const std::vector<fs::path>& roots) {
  for (const fs::path& root : roots) {
    std::error_code error;
    if (fs::is_regular_file(root / kDemoFile, error)) {
      return root / kDemoFile;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<fs::path> model_roots() {
  std::error_code error;
  std::vector<fs::path> roots{"."};
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    roots.push_back(program.parent_path() / "../../..");
    roots.back() = roots.back().lexically_normal();
  }
  return roots;
}

ModelChoice choose_model(const std::optional<fs::path>& asked, const std::vector<fs::path>& roots) {
  if (asked) {
    return {.path = *asked};
  }
  if (const std::optional<fs::path> newest = newest_smollm3(roots)) {
    return {.path = newest->lexically_normal()};
  }
  if (const std::optional<fs::path> demo = demo_model(roots)) {
    return {.path = demo->lexically_normal(), .is_fallback = true};
  }
  throw Error{ErrorCode::NotFound,
              fmt::format("--model: expected a model file, or a SmolLM3 GGUF in models/, or {}, "
                          "found none",
                          kDemoFile)};
}

ModelChoice choose_model_and_tell(const std::optional<fs::path>& asked) {
  ModelChoice choice = choose_model(asked, model_roots());
  if (choice.is_fallback) {
    note(
        "smolbot: this is the demo model, which knows almost nothing. For real answers put a "
        "SmolLM3 GGUF into models/ or name one with --model.");
  }
  return choice;
}

}  // namespace smol::app
