// The key of our own that browsers get as a cookie for one of the others. It is kept in the data
// folder, so that who signed in once stays so when the server starts again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace smol::app {

// The one that is kept there for exactly these keys, or a new one.
std::string page_token(const std::filesystem::path& folder, const std::vector<std::string>& keys);

// Keeps it, where there are keys. Requires: the folder is this process's alone. Throws Error{Io}.
void keep_page_token(const std::filesystem::path& folder, const std::vector<std::string>& keys,
                     const std::string& token);

}  // namespace smol::app
