// A message that holds only text, as flags, files and keyboards give it.
#pragma once

#include <string_view>

#include "base/utf8.h"
#include "chat/message.h"

namespace smol::app {

// Invalid UTF-8 becomes U+FFFD: templates take only valid text.
inline chat::Message text_message(chat::Role role, std::string_view text) {
  chat::Message message;
  message.role = role;
  message.content = utf8::to_valid(text);
  return message;
}

}  // namespace smol::app
