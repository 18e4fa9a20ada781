// Where the server keeps what outlives it.
#pragma once

#include <filesystem>
#include <memory>

#include "store/session_store.h"

namespace smol::app {

// The XDG Base Directory Specification's place for data: smolbot in $XDG_DATA_HOME or
// ~/.local/share. Throws Error{NotFound} where the environment names neither.
std::filesystem::path default_data_folder();

// The conversations in that folder, which is made if it is missing and belongs to this process
// alone from now on; what a killed server had not finished there goes. Throws what SessionStore
// throws, naming --data-dir.
std::unique_ptr<store::SessionStore> open_sessions(const std::filesystem::path& folder);

}  // namespace smol::app
