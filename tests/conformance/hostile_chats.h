// Chats whose input spells added tokens, each with a twin that does not.
#pragma once

#include <string>
#include <vector>

#include "chat/message.h"
#include "chat/prompt_builder.h"

namespace smol::conformance {

struct HostileChat {
  std::string id;
  std::vector<chat::Message> messages;
  chat::PromptOptions options;
  std::vector<chat::Message> harmless;
  chat::PromptOptions harmless_options;
};

// Every payload in every place where input can stand.
std::vector<HostileChat> hostile_chats();

}  // namespace smol::conformance
