#include "server/completion_request.h"

#include <cstdint>

#include "base/error.h"
#include "base/json.h"

namespace smol::server {
namespace {

constexpr std::size_t kMostPrompts = 16;
constexpr std::uint64_t kMostLogprobs = 5;     // as OpenAI
constexpr std::size_t kDefaultMaxTokens = 16;  // as OpenAI

RawInput checked_text(const Json& value, const std::string& path) {
  if (value.get_ref<const std::string&>().empty()) {
    refuse(path, "a text or token ids", value);
  }
  return value.get<std::string>();
}

RawInput checked_entry(const Json& value, const std::string& path, std::size_t vocab_size) {
  if (value.is_string()) {
    return checked_text(value, path);
  }
  if (!value.is_array()) {
    refuse(path, "a string or a list of token ids", value);
  }
  return read_ids(value, path, vocab_size);
}

void refuse_unsupported(const Fields& fields, const CompletionRequest& request) {
  const auto suffix = fields.text("suffix");
  if (suffix && !suffix->empty()) {
    refuse(fields.path_of("suffix"), "none (the model has no way to fill in)", Json(*suffix));
  }
  const auto best_of = fields.count("best_of", {1, kMostAnswers});
  if (best_of && *best_of != request.wish.n) {
    refuse(fields.path_of("best_of"), "the value of n", Json(*best_of));
  }
  if (request.echo && request.wish.options.top_logprobs) {
    refuse(fields.path_of("logprobs"), "none beside echo",
           Json(*request.wish.options.top_logprobs));
  }
}

}  // namespace

std::vector<TokenId> read_ids(const Json& list, const std::string& path, std::size_t vocab_size) {
  std::vector<TokenId> ids;
  ids.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto id = whole_number(list[i], {0, vocab_size - 1});
    if (!id) {
      refuse(joined_path(path, i), "a token id below " + std::to_string(vocab_size), list[i]);
    }
    ids.push_back(static_cast<TokenId>(*id));
  }
  if (ids.empty()) {
    throw Error{ErrorCode::BadInput, path + ": expected at least one token id, found none"};
  }
  return ids;
}

std::vector<RawInput> read_inputs(const Fields& fields, std::string_view name,
                                  std::size_t vocab_size, std::size_t most) {
  const Json* value = fields.find(name);
  const std::string path = fields.path_of(name);
  if (value == nullptr) {
    fields.miss(name, "a string or a list");
  }
  if (value->is_string()) {
    return {checked_text(*value, path)};
  }
  if (!value->is_array()) {
    refuse(path, "a string, a list of strings, a list of token ids or a list of such lists",
           *value);
  }
  if (value->empty() || value->front().is_number()) {
    return {read_ids(*value, path, vocab_size)};
  }
  std::vector<RawInput> out;
  const Json* list = fields.list(name, most);
  for (std::size_t i = 0; i < list->size(); ++i) {
    out.push_back(checked_entry((*list)[i], joined_path(path, i), vocab_size));
  }
  return out;
}

CompletionRequest read_completion_request(const Json& body, const chat::ModelFacts& model) {
  const Fields fields(body, "");
  check_model(fields, model);
  CompletionRequest request;
  request.prompts = read_inputs(fields, "prompt", model.vocab_size, kMostPrompts);
  request.wish = read_answer_wish(fields, model);
  if (request.wish.options.max_tokens == 0) {
    request.wish.options.max_tokens = kDefaultMaxTokens;
  }
  if (request.wish.n * request.prompts.size() > kMostAnswers) {
    refuse(fields.path_of("n"),
           "at most " + std::to_string(kMostAnswers) + " answers to all prompts together",
           Json(request.wish.n));
  }
  request.echo = fields.boolean("echo").value_or(false);
  if (const auto logprobs = fields.count("logprobs", {0, kMostLogprobs})) {
    request.wish.options.top_logprobs = *logprobs;
  }
  if (const auto grammar = fields.text("grammar")) {
    request.wish.options.form = chat::Grammar{*grammar};
  }
  refuse_unsupported(fields, request);
  return request;
}

}  // namespace smol::server
