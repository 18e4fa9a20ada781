#include "chat/assistant.h"

namespace smol::chat {

std::string_view name_of(TurnEnd end) noexcept {
  switch (end) {
    case TurnEnd::EndOfTurn:
      return "end_of_turn";
    case TurnEnd::StopString:
      return "stop_string";
    case TurnEnd::MaxTokens:
      return "max_tokens";
    case TurnEnd::ContextFull:
      return "context_full";
    case TurnEnd::Cancelled:
      return "cancelled";
  }
  return "";
}

}  // namespace smol::chat
