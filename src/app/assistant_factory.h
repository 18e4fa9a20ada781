// Who answers behind the server.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "app/options.h"
#include "chat/assistant.h"

namespace smol::app {

struct AssistantOptions {
  ModelOptions model;
  std::size_t queue = 64;  // turns that may wait
};

// Loads the model. Throws Error naming file or flag.
std::unique_ptr<chat::Assistant> make_assistant(const std::filesystem::path& path,
                                                const AssistantOptions& options);

}  // namespace smol::app
