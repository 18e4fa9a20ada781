// `smolbot inspect FILE`: what a GGUF file holds, as plain text or JSON. Control characters of the
// file are escaped: a report never moves the cursor of the terminal it is shown on.
#pragma once

#include <filesystem>
#include <ostream>

namespace smol::app {

struct InspectOptions {
  std::filesystem::path file;
  bool json = false;
};

// Returns the exit status 0. Throws Error for a file that cannot be read or is broken.
int run_inspect(const InspectOptions& options, std::ostream& out);

}  // namespace smol::app
