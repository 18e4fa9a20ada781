// Turns: an answer that takes the place of what stands above it.
#include <string>
#include <variant>

#include "page/turns.h"

namespace smol::page {
namespace {

std::string text_of(const store::Answer& answer) {
  std::string out;
  for (const store::Part& part : answer.parts) {
    if (const auto* text = std::get_if<store::TextPart>(&part)) {
      out += text->text;
    }
  }
  return out;
}

}  // namespace

void Turns::finish_summary(const LivePtr& live, const chat::TurnFinished& finished) {
  const bool has_words =
      text_of(live->answer->answer()).find_first_not_of(" \t\r\n") != std::string::npos;
  if (finished.end == chat::TurnEnd::EndOfTurn && has_words && live->answer->open_calls().empty()) {
    return finish(live, store::AnswerState::Done);
  }
  finish(live, store::AnswerState::Error, 0,
         {"The summary did not come to its end: the conversation was not replaced.",
          "/compact tries again, /clear starts anew."});
}

std::optional<store::MessageId> Turns::save_end(const Live& live) {
  const store::Answer answer = live.answer->answer();
  const store::TurnId turn = live.answer->turn().id;
  if (live.wish.note.empty() || answer.state != store::AnswerState::Done) {
    store_.save(turn, answer);
    return std::nullopt;
  }
  return store_.save_with_note(turn, answer, {live.wish.note, text_of(answer)});
}

}  // namespace smol::page
