#include "page/turn_begin.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace smol::page {
namespace {

template <class T>
void overwrite(std::optional<T>& value, const Form& form, std::string_view name) {
  if (const auto number = form.number(name)) {
    value = static_cast<T>(*number);
  }
}

std::int64_t count_tokens(const chat::Assistant& assistant, const std::string& text) {
  return static_cast<std::int64_t>(
      assistant.builder().tokenizer().encode(text, text::AddedTokens::None).size());
}

}  // namespace

store::UserInput input_of(const Call& call, bool think) {
  store::UserInput input{call.form.text("message"), {}, think};
  const std::vector<std::string> names = call.form.all("attachment_name");
  const std::vector<std::string> texts = call.form.all("attachment_text");
  for (std::size_t i = 0; i < std::min(names.size(), texts.size()); ++i) {
    input.attachments.push_back({names[i], texts[i], count_tokens(call.house.assistant, texts[i])});
  }
  const bool is_empty = input.text.find_first_not_of(" \t\r\n") == std::string::npos;
  if (is_empty && input.attachments.empty()) {
    throw Refusal{400, "bad", "An empty message was not sent."};
  }
  return input;
}

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
    call.house.turns.start(turn, wish);
    throw;
  }
  call.house.turns.start(turn, wish);
  return response;
}

}  // namespace smol::page
