#include "page/turn_begin.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "chat/answer_form.h"
#include "page/message_views.h"
#include "page/session_views.h"

namespace smol::page {
namespace {

// What a request may say for one answer: numbers of the API.
constexpr std::array kAnswerFields{
    "temperature",           "top_p", "min_p", "repetition_penalty", "presence_penalty",
    "frequency_penalty",     "top_k", "seed",  "max_tokens",         "max_completion_tokens",
    "thinking_budget_tokens"};

// What is whole stays exact.
std::optional<Json> number_in(const Form& form, std::string_view name) {
  const std::string& text = form.text(name);
  std::int64_t whole = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (!text.empty() && read.ec == std::errc{} && read.ptr == text.data() + text.size()) {
    return whole < 0 ? Json(whole) : Json(static_cast<std::uint64_t>(whole));
  }
  const auto number = form.number(name);
  return number ? std::optional(Json(*number)) : std::nullopt;
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
  own.tools = form.has("tools") ? form.flag("tools") : own.tools;
  TurnWish wish = call.house.turns.wish(own, think);
  Json fields = answer_fields(settings);
  for (const char* name : kAnswerFields) {
    if (auto number = number_in(form, name)) {
      fields[name] = std::move(*number);
    }
  }
  wish.answer = answer_options(fields, call.house.assistant.model());
  if (form.has("grammar") && !form.text("grammar").empty()) {
    wish.answer.form = chat::Grammar{form.text("grammar")};
    chat::check(wish.answer.form, {});
  }
  return wish;
}

void check_length(const Call& call, const store::Session& about,
                  std::span<const store::Message> path, const TurnWish& wish) {
  const chat::Assistant& assistant = call.house.assistant;
  const chat::TurnRequest request = turn_request(assistant.builder(), about, path, wish);
  if (auto problem = length_problem(request, assistant.model())) {
    throw Refusal{400, "bad", std::move(problem->text), std::move(problem->hint)};
  }
}

void check_queue(const Call& call) {
  const chat::AssistantStats stats = call.house.assistant.stats();
  if (stats.waiting >= stats.waiting_max) {
    throw Refusal{429, "warn", "The server has too much to do.", "Try again in a moment."};
  }
}

server::HttpResponse turn_fragment(const Call& call, const store::Turn& turn, bool is_new) {
  const store::SessionStore& store = call.house.store;
  const std::array<store::Message, 2> shown{store.message(*turn.question),
                                            store.message(turn.answer)};
  jinja::Dict context;
  context.set("messages", messages_value(shown, turn.answer));
  context.set("session", session_value(store.session(turn.session)));
  context.set("is_new", jinja::Value::boolean(is_new));
  set_session_list(context, store, turn.session);
  server::HttpResponse response = call.html("fragments/turn", std::move(context));
  if (is_new) {
    response.headers.add("HX-Replace-Url", "/chat/" + turn.session);
  }
  return response;
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
