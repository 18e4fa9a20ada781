#include "server/chat_format.h"

#include <chrono>
#include <cstddef>
#include <span>
#include <variant>
#include <vector>

#include "base/json.h"
#include "server/answer_json.h"
#include "server/random_id.h"

namespace smol::server {
namespace {

// The scores that are in no chunk yet.
Json new_scores(Choice& choice) {
  Json out = Json::array();
  for (; choice.sent_scores < choice.scores.size(); ++choice.sent_scores) {
    out.push_back(logprob_json(choice.scores[choice.sent_scores]));
  }
  return {{"content", std::move(out)}, {"refusal", nullptr}};
}

Json message_json(const chat::ParsedOutput& output) {
  Json message = {{"role", "assistant"},
                  {"content", output.content_is_null() ? Json(nullptr) : Json(output.content)},
                  {"refusal", nullptr}};
  if (!output.reasoning.empty()) {
    message["reasoning_content"] = output.reasoning;
  }
  for (const chat::ToolCall& call : output.tool_calls) {
    message["tool_calls"].push_back(tool_call_json(call));
  }
  return message;
}

}  // namespace

AnswerHead new_answer_head(std::string_view id_prefix, const chat::ModelFacts& model) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {std::string(id_prefix) + random_id(),
          std::chrono::duration_cast<std::chrono::seconds>(now).count(), model.id};
}

Json ChatFormat::chunk(Json choices) const {
  Json out = {{"id", head_.id},
              {"object", "chat.completion.chunk"},
              {"created", head_.created},
              {"model", head_.model},
              {"choices", std::move(choices)}};
  if (options_.include_usage) {
    out["usage"] = nullptr;
  }
  return out;
}

Json ChatFormat::chunk_of(std::size_t index, Json delta, Choice* choice,
                          const Json& finish_reason) const {
  Json scores = nullptr;
  if (options_.logprobs && choice != nullptr && choice->sent_scores < choice->scores.size()) {
    scores = new_scores(*choice);
  }
  Json one = {{"index", index},
              {"delta", std::move(delta)},
              {"logprobs", std::move(scores)},
              {"finish_reason", finish_reason}};
  return chunk(Json::array({std::move(one)}));
}

Json ChatFormat::opening(std::size_t index) const {
  return chunk_of(index, {{"role", "assistant"}, {"content", ""}}, nullptr, nullptr);
}

Json ChatFormat::delta(std::size_t index, Choice& choice, const chat::AnswerEvent& event) const {
  if (const auto* text = std::get_if<chat::TextDelta>(&event)) {
    return chunk_of(index, {{"content", text->text}}, &choice, nullptr);
  }
  if (const auto* thought = std::get_if<chat::ThinkingDelta>(&event)) {
    return chunk_of(index, {{"reasoning_content", thought->text}}, &choice, nullptr);
  }
  if (const auto* call = std::get_if<chat::ToolCall>(&event)) {
    Json numbered = {{"index", choice.output.tool_calls.size() - 1}};
    numbered.update(tool_call_json(*call));
    return chunk_of(index, {{"tool_calls", Json::array({std::move(numbered)})}}, &choice, nullptr);
  }
  return nullptr;
}

Json ChatFormat::closing(std::size_t index, Choice& choice) const {
  return chunk_of(index, Json::object(), &choice, finish_reason_of(*choice.finished));
}

Json ChatFormat::usage(std::span<const chat::TurnUsage> answers) const {
  Json out = chunk(Json::array());
  out["usage"] = usage_json(answers, answers.size());
  out["timings"] = timings_json(answers, answers.size());
  return out;
}

Json ChatFormat::whole(std::span<const Choice> choices) const {
  Json list = Json::array();
  std::vector<chat::TurnUsage> usages;
  for (const Choice& choice : choices) {
    Json scores = nullptr;
    if (options_.logprobs) {
      Choice all = choice;
      all.sent_scores = 0;
      scores = new_scores(all);
    }
    list.push_back({{"index", list.size()},
                    {"message", message_json(choice.output)},
                    {"logprobs", std::move(scores)},
                    {"finish_reason", finish_reason_of(*choice.finished)}});
    usages.push_back(choice.finished->usage);
  }
  return {{"id", head_.id},
          {"object", "chat.completion"},
          {"created", head_.created},
          {"model", head_.model},
          {"choices", std::move(list)},
          {"usage", usage_json(usages, usages.size())},
          {"timings", timings_json(usages, usages.size())}};
}

}  // namespace smol::server
