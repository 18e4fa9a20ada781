#include "app/data_folder.h"

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/output_file.h"

namespace smol::app {

std::filesystem::path default_data_folder() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && *data != '\0') {
    return std::filesystem::path(data) / "smolbot";
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    throw Error{ErrorCode::NotFound,
                "--data-dir: expected it, or XDG_DATA_HOME or HOME in the environment, found none"};
  }
  return std::filesystem::path(home) / ".local/share/smolbot";
}

std::unique_ptr<store::SessionStore> open_sessions(const std::filesystem::path& folder) {
  try {
    auto sessions = std::make_unique<store::SessionStore>(folder);
    remove_unfinished_files(folder);
    return sessions;
  } catch (const Error& error) {
    throw Error{error.code(), std::string("--data-dir: ") + error.what()};
  }
}

}  // namespace smol::app
