#include "app/model_choice.h"

#include <algorithm>
#include <cctype>
#include <system_error>

#include <fmt/format.h>

#include "app/console.h"
#include "app/numbers.h"
#include "base/error.h"
#include "gguf/file.h"

namespace smol::app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDemoFile = "models/demo/smollm3-demo-q8_0.gguf";

// Why a file is no whole SmolLM3; empty if it is one.
std::string fault_of(const fs::path& path) {
  try {
    const gguf::File file = gguf::File::open(path);
    const auto architecture = file.metadata().string("general.architecture");
    if (architecture != "smollm3") {
      return fmt::format("{}: expected a SmolLM3, found {} (--model takes it)", path.string(),
                         in_quotes(architecture.value_or("")));
    }
    return file.tensors().empty()
               ? path.string() + ": expected a whole model, found only a vocabulary"
               : "";
  } catch (const Error& error) {
    return error.what();
  }
}

bool is_named_gguf(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".gguf";
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
    if (!entry_error && entry.is_regular_file(entry_error) && is_named_gguf(entry.path())) {
      found.push_back({written, entry.path()});
    }
  }
}

// Without a path if there is none.
ModelChoice newest_smollm3(const std::vector<fs::path>& roots) {
  std::vector<Candidate> found;
  for (const fs::path& root : roots) {
    collect(root / "models", found);
  }
  std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return a.written != b.written ? a.written > b.written : a.path < b.path;
  });
  ModelChoice choice;
  choice.n_found = found.size();
  for (const Candidate& candidate : found) {
    const fs::path path = candidate.path.lexically_normal();
    std::string fault = fault_of(path);
    if (fault.empty()) {
      choice.path = path;
      return choice;
    }
    choice.left_out.push_back(std::move(fault));
  }
  return choice;
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

bool is_demo_model(const fs::path& path) {
  return path.filename() == fs::path(kDemoFile).filename();
}

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
  ModelChoice choice = newest_smollm3(roots);
  if (!choice.path.empty()) {
    return choice;
  }
  if (const std::optional<fs::path> demo = demo_model(roots)) {
    choice.path = demo->lexically_normal();
    choice.is_fallback = true;
    return choice;
  }
  throw Error{ErrorCode::NotFound,
              fmt::format("--model: expected a model file, or a SmolLM3 GGUF in models/, or {}, "
                          "found none",
                          kDemoFile)};
}

ModelChoice choose_model_and_tell(const std::optional<fs::path>& asked) {
  ModelChoice choice = choose_model(asked, model_roots());
  for (const std::string& fault : choice.left_out) {
    note(safe_for_terminal("smolbot: left out: " + fault));
  }
  if (choice.n_found > 1 && !choice.is_fallback) {
    note(safe_for_terminal(fmt::format("smolbot: {} answers, the newest SmolLM3 of {} model files",
                                       choice.path.string(), choice.n_found)));
  }
  if (choice.is_fallback) {
    note(
        "smolbot: this is the demo model, which knows almost nothing. For real answers put a "
        "SmolLM3 GGUF into models/ or name one with --model.");
  }
  return choice;
}

}  // namespace smol::app
