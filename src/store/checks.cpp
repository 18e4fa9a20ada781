#include "store/checks.h"

#include <string>
#include <variant>

#include "base/error.h"
#include "base/utf8.h"

namespace smol::store {

void check_text(std::string_view text, std::string_view what) {
  if (!utf8::is_valid(text)) {
    throw Error(ErrorCode::BadInput,
                std::string(what) + ": expected UTF-8, found bytes that are none");
  }
}

void check_input(const UserInput& input) {
  check_text(input.text, "message");
  for (const Attachment& file : input.attachments) {
    check_text(file.name, "attachment's name");
    check_text(file.text, "attachment");
  }
}

void check_answer(const Answer& answer) {
  for (const Part& part : answer.parts) {
    if (const auto* tool = std::get_if<ToolPart>(&part)) {
      check_text(tool->call_id, "call's id");
      check_text(tool->name, "call's name");
      check_text(tool->arguments, "call's arguments");
      check_text(tool->result, "call's result");
    } else if (const auto* thinking = std::get_if<ThinkingPart>(&part)) {
      check_text(thinking->text, "thoughts");
    } else {
      check_text(std::get<TextPart>(part).text, "answer");
    }
  }
  check_text(answer.error.text, "error");
  check_text(answer.error.hint, "error's hint");
}

}  // namespace smol::store
