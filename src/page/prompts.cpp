#include "page/prompts.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <utility>

#include "base/json.h"
#include "server/answer_fields.h"
#include "store/prompt_messages.h"

namespace smol::page {
namespace {

constexpr std::uint64_t kMostBudget = 1UL << 24U;

std::tm as_tm(std::chrono::year_month_day date) {
  std::tm out{};
  out.tm_year = static_cast<int>(date.year()) - 1900;
  out.tm_mon = static_cast<int>(static_cast<unsigned>(date.month())) - 1;
  out.tm_mday = static_cast<int>(static_cast<unsigned>(date.day()));
  out.tm_isdst = -1;
  return out;
}

template <class T>
void set(Json& body, const char* name, const std::optional<T>& value) {
  if (value) {
    body[name] = *value;
  }
}

void set_count(Json& body, const char* name, const std::optional<std::int64_t>& value) {
  if (value) {
    body[name] = static_cast<std::uint64_t>(std::max<std::int64_t>(*value, 0));
  }
}

std::size_t count_calls(std::span<const chat::Message> messages) {
  std::size_t count = 0;
  for (const chat::Message& message : messages) {
    count += message.tool_calls.size();
  }
  return count;
}

}  // namespace

Json answer_fields(const store::Settings& settings) {
  Json fields = Json::object();
  set(fields, "temperature", settings.temperature);
  set(fields, "top_p", settings.top_p);
  set(fields, "min_p", settings.min_p);
  set(fields, "repetition_penalty", settings.repetition_penalty);
  set_count(fields, "top_k", settings.top_k);
  set_count(fields, "seed", settings.seed);
  set_count(fields, "max_tokens", settings.max_tokens);
  set_count(fields, "thinking_budget_tokens", settings.thinking_budget);
  return fields;
}

chat::AnswerOptions answer_options(const Json& fields, const chat::ModelFacts& model) {
  const server::Fields wish(fields, "");
  chat::AnswerOptions options = server::read_answer_wish(wish, model).options;
  options.thinking_budget = wish.count("thinking_budget_tokens", {0, kMostBudget});
  // A limit leaves room for the answer, where nobody said how much.
  if (!options.thinking_budget && options.max_tokens != 0) {
    options.thinking_budget = options.max_tokens / 2;
  }
  return options;
}

chat::TurnRequest turn_request(const chat::PromptBuilder& builder, const store::Session& session,
                               std::span<const store::Message> path, const TurnWish& wish) {
  const std::vector<chat::Message> messages =
      store::prompt_messages(session.settings.system, path, wish.left_out);
  chat::TurnRequest request;
  request.options.tools = wish.tools;
  request.options.think = wish.think ? chat::ThinkMode::On : chat::ThinkMode::Off;
  request.options.now = as_tm(session.date);
  request.options.continue_final_message =
      !messages.empty() && messages.back().role == chat::Role::Assistant;
  request.options.add_generation_prompt = !request.options.continue_final_message;
  request.prompt = builder.build(messages, request.options);
  request.answer = wish.answer;
  request.client = "page " + session.id;
  request.n_calls = count_calls(messages);
  return request;
}

std::optional<store::AnswerError> length_problem(const chat::TurnRequest& request,
                                                 const chat::ModelFacts& model) {
  const std::size_t size = request.prompt.ids.size();
  if (size < model.context || request.answer.overflow == chat::ContextOverflow::Roll) {
    return std::nullopt;
  }
  return store::AnswerError{"With this message the conversation has " + std::to_string(size) +
                                " tokens; the model's context holds " +
                                std::to_string(model.context) + ".",
                            "/compact makes room, /clear starts anew."};
}

Price price_of(const chat::Assistant& assistant, const chat::TurnRequest& request) {
  Price price;
  price.total = request.prompt.ids.size();
  price.tokens = price.total - std::min(price.total, assistant.reusable(request.prompt.ids));
  const double speed = assistant.stats().prompt_tokens_per_second;
  price.seconds = speed > 0 ? static_cast<double>(price.tokens) / speed : 0;
  return price;
}

}  // namespace smol::page
