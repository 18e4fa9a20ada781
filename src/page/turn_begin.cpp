#include "page/turn_begin.h"

#include <array>
#include <cstdint>
#include <utility>

namespace smol::page {
namespace {

template <class T>
void overwrite(std::optional<T>& value, const Form& form, std::string_view name) {
  if (const auto number = form.number(name)) {
    value = static_cast<T>(*number);
  }
}

// The answer as far as it has come, and what the events call it.
LiveAnswer::Begin begin_of(const Call& call, const store::Turn& turn) {
  LiveAnswer::Begin begin;
  begin.turn = turn;
  store::Message message = call.house.store.message(turn.answer);
  begin.parent = turn.question ? call.house.store.message(*turn.question).parent : message.parent;
  begin.answer = std::move(message.answer);
  for (store::Part& part : begin.answer.parts) {  // calls that an earlier run did not complete
    auto* tool = std::get_if<store::ToolPart>(&part);
    if (tool != nullptr &&
        (tool->state == store::ToolState::Asking || tool->state == store::ToolState::Running)) {
      tool->state = store::ToolState::Failed;
      tool->result = "This call was not completed.";
    }
  }
  begin.context_max = call.house.assistant.model().context;
  return begin;
}

void start(const Call& call, const store::Turn& turn, const TurnWish& wish) {
  store::SessionStore& store = call.house.store;
  try {
    Turns::Start start{begin_of(call, turn), {}, wish};
    start.request = turn_request(call.house.assistant.builder(), store.session(turn.session),
                                 store.messages_up_to(turn.answer), wish);
    call.house.turns.start(std::move(start));
  } catch (const Error& error) {  // a prompt that the template does not take
    store::Answer answer = store.message(turn.answer).answer;
    answer.state = store::AnswerState::Error;
    answer.error = {error.what(), ""};
    store.save(turn.id, answer);
    call.house.turns.tell_changed(turn.session);
  }
}

}  // namespace

TurnWish wish_of(const Call& call, const store::Settings& settings, bool think) {
  const Form& form = call.form;
  store::Settings own = settings;
  overwrite(own.temperature, form, "temperature");
  overwrite(own.top_p, form, "top_p");
  overwrite(own.min_p, form, "min_p");
  overwrite(own.repetition_penalty, form, "repetition_penalty");
  overwrite(own.top_k, form, "top_k");
  overwrite(own.seed, form, "seed");
  overwrite(own.max_tokens, form, "max_tokens");
  overwrite(own.thinking_budget, form, "thinking_budget_tokens");
  own.tools = form.has("tools") ? form.flag("tools") : own.tools;
  TurnWish wish = call.house.turns.wish(own, think);
  if (form.has("grammar") && !form.text("grammar").empty()) {
    wish.answer.form = chat::Grammar{form.text("grammar")};
  }
  return wish;
}

void check_length(const chat::TurnRequest& request, const chat::ModelFacts& model) {
  const std::size_t size = request.prompt.ids.size();
  if (size >= model.context) {
    throw Refusal{400, "bad",
                  "With this message the conversation has " + std::to_string(size) +
                      " tokens; the model's context holds " + std::to_string(model.context) + ".",
                  "/compact makes room, /clear starts anew."};
  }
}

void refuse_busy() {
  throw Refusal{409, "warn", "An answer is still being written.",
                "Your message was not sent; it is in the input again."};
}

server::HttpResponse answer_and_start(const Call& call, const store::Turn& turn,
                                      const TurnWish& wish,
                                      const std::function<server::HttpResponse()>& answer) {
  server::HttpResponse response;
  try {
    response = answer();
  } catch (...) {
    start(call, turn, wish);
    throw;
  }
  start(call, turn, wish);
  return response;
}

}  // namespace smol::page
