#include "server/completion_format.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <variant>

#include "base/json.h"
#include "base/utf8.h"
#include "server/answer_json.h"

namespace smol::server {
namespace {

// Characters whose first byte is among these.
std::size_t n_begun_characters(std::string_view bytes) {
  return static_cast<std::size_t>(std::ranges::count_if(
      bytes, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// The older form: parallel lists, offsets in characters of the answer. The scores that are in no
// chunk yet.
Json new_score_lists(Choice& choice) {
  Json out = {{"tokens", Json::array()},
              {"token_logprobs", Json::array()},
              {"top_logprobs", Json::array()},
              {"text_offset", Json::array()}};
  for (; choice.sent_scores < choice.scores.size(); ++choice.sent_scores) {
    const chat::TokenScore& score = choice.scores[choice.sent_scores];
    Json top = Json::object();
    for (const chat::TokenScore::Alternative& one : score.top) {
      top[utf8::to_valid(one.bytes)] = one.logprob;
    }
    out["tokens"].push_back(utf8::to_valid(score.bytes));
    out["token_logprobs"].push_back(score.logprob);
    out["top_logprobs"].push_back(std::move(top));
    out["text_offset"].push_back(choice.sent_characters);
    choice.sent_characters += n_begun_characters(score.bytes);
  }
  return out;
}

Json all_scores(Choice choice) {
  choice.sent_scores = choice.sent_characters = 0;
  return new_score_lists(choice);
}

std::string_view reason_of_end(const Choice& choice) {
  const std::string_view reason = finish_reason_of(*choice.finished);
  return reason == "tool_calls" ? "stop" : reason;
}

}  // namespace

std::string CompletionFormat::echo_of(std::size_t index) const {
  return options_.echoes.empty() ? "" : options_.echoes[index];
}

Json CompletionFormat::chunk(Json choices) const {
  Json out = {{"id", head_.id},
              {"object", "text_completion"},
              {"created", head_.created},
              {"model", head_.model},
              {"choices", std::move(choices)}};
  if (options_.include_usage) {
    out["usage"] = nullptr;
  }
  return out;
}

Json CompletionFormat::chunk_of(std::size_t index, std::string_view text, Choice* choice,
                                const Json& finish_reason) const {
  Json scores = nullptr;
  if (options_.logprobs && choice != nullptr && choice->sent_scores < choice->scores.size()) {
    scores = new_score_lists(*choice);
  }
  Json one = {{"index", index},
              {"text", text},
              {"logprobs", std::move(scores)},
              {"finish_reason", finish_reason}};
  return chunk(Json::array({std::move(one)}));
}

Json CompletionFormat::opening(std::size_t index) const {
  return options_.echoes.empty() ? Json(nullptr)
                                 : chunk_of(index, echo_of(index), nullptr, nullptr);
}

Json CompletionFormat::delta(std::size_t index, Choice& choice,
                             const chat::AnswerEvent& event) const {
  const auto* text = std::get_if<chat::TextDelta>(&event);
  return text == nullptr ? Json(nullptr) : chunk_of(index, text->text, &choice, nullptr);
}

Json CompletionFormat::closing(std::size_t index, Choice& choice) const {
  return chunk_of(index, "", &choice, reason_of_end(choice));
}

Json CompletionFormat::usage(std::span<const chat::TurnUsage> answers) const {
  Json out = chunk(Json::array());
  out["usage"] = usage_json(answers, options_.n);
  out["timings"] = timings_json(answers, options_.n);
  return out;
}

Json CompletionFormat::whole(std::span<const Choice> choices) const {
  Json list = Json::array();
  std::vector<chat::TurnUsage> usages;
  for (const Choice& choice : choices) {
    list.push_back({{"index", list.size()},
                    {"text", echo_of(list.size()) + choice.output.content},
                    {"logprobs", options_.logprobs ? all_scores(choice) : Json(nullptr)},
                    {"finish_reason", reason_of_end(choice)}});
    usages.push_back(choice.finished->usage);
  }
  return {{"id", head_.id},
          {"object", "text_completion"},
          {"created", head_.created},
          {"model", head_.model},
          {"choices", std::move(list)},
          {"usage", usage_json(usages, options_.n)},
          {"timings", timings_json(usages, options_.n)}};
}

}  // namespace smol::server
