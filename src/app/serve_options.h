// The flags of `smolbot serve`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

#include "app/options.h"
#include "server/access.h"
#include "server/server.h"

namespace CLI {
class App;
}

namespace smol::app {

struct ServeOptions {
  ModelOptions model;
  server::ServerOptions server;
  server::AccessRules access;
  std::size_t most_import_bytes = std::size_t{256} << 20U;
  bool no_auth = false;
  bool log_prompts = false;
  bool log_requests = true;
  std::size_t queue = 64;                            // turns that may wait
  std::size_t slots = 8;                             // turns that are answered side by side
  double pace = 0;                                   // most tokens a second of each answer; 0: any
  bool lookup = true;                                // of what may follow, in the text so far
  std::optional<std::filesystem::path> data_folder;  // none: default_data_folder()
  bool save_cache = false;                           // what clients sent, too
  std::size_t cache_file_bytes = std::size_t{512} << 20U;  // most of each file of the cache
};

void add_serve_options(CLI::App& command, ServeOptions& options);

// The rules of what was given; Host may name the address listened on. Throws Error{BadInput} where
// other machines could come in without a key and --no-auth does not say that they may.
server::AccessRules access_rules(const ServeOptions& options);

}  // namespace smol::app
