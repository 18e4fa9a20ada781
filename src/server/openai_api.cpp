#include "server/openai_api.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "server/api_error.h"
#include "server/chat_format.h"
#include "server/chat_request.h"
#include "server/completion_format.h"
#include "server/completion_request.h"
#include "server/embeddings.h"
#include "server/prompts.h"
#include "server/request_body.h"
#include "server/text_api.h"
#include "server/turn_group.h"

namespace smol::server {
namespace {

constexpr std::size_t kMostWaitingEmbeddings = 64;

HttpResponse not_loaded() {
  return to_response({.status = 503,
                      .message = "model: expected it to be loaded, found it loading",
                      .type = "server_error",
                      .code = "loading"});
}

Handler not_built(std::string message) {
  return [message = std::move(message)](const HttpRequest&) -> Reply {
    return to_response({.status = 501, .message = message, .code = "not_implemented"});
  };
}

// One turn for each answer to each prompt.
struct TurnPlan {
  chat::PromptOptions options = {};
  AnswerWish wish = {};
  std::string client = {};
  std::size_t n_calls = 0;
  bool raw = false;
};

std::vector<chat::TurnRequest> turns_of(const std::vector<chat::Prompt>& prompts,
                                        const TurnPlan& plan) {
  std::vector<chat::TurnRequest> turns;
  for (const chat::Prompt& prompt : prompts) {
    for (std::size_t i = 0; i < plan.wish.n; ++i) {
      chat::TurnRequest turn;
      turn.prompt = prompt;
      turn.options = plan.options;
      turn.answer = plan.wish.options;
      turn.answer.sampling.seed = seed_of(plan.wish.options.sampling.seed, i);
      turn.client = plan.client;
      turn.n_calls = plan.n_calls;
      turn.raw = plan.raw;
      turns.push_back(std::move(turn));
    }
  }
  return turns;
}

std::string client_of(const HttpRequest& request, const AnswerWish& wish) {
  return wish.user.empty() ? request.client : request.client + "/" + wish.user;
}

std::size_t count_calls(const std::vector<chat::Message>& messages) {
  std::size_t count = 0;
  for (const chat::Message& message : messages) {
    count += message.tool_calls.size();
  }
  return count;
}

Json model_json(const chat::ModelFacts& facts, std::int64_t created) {
  return {{"id", facts.id},
          {"object", "model"},
          {"created", created},
          {"owned_by", "smolbot"},
          {"meta",
           {{"architecture", facts.architecture},
            {"quantization", facts.quantization},
            {"context", facts.context},
            {"vocab_size", facts.vocab_size},
            {"embedding_size", facts.embedding_size},
            {"file_bytes", facts.file_bytes},
            {"is_demo", facts.is_demo}}}};
}

}  // namespace

OpenAiApi::OpenAiApi(Metrics& metrics)
    : metrics_(metrics),
      created_(std::chrono::duration_cast<std::chrono::seconds>(
                   std::chrono::system_clock::now().time_since_epoch())
                   .count()),
      embedding_queue_(kMostWaitingEmbeddings) {}

void OpenAiApi::set_assistant(chat::Assistant& assistant) {
  assistant_ = &assistant;
}

Handler OpenAiApi::when_loaded(AssistantHandler handler) {
  return [this, handler](const HttpRequest& request) -> Reply {
    chat::Assistant* assistant = assistant_;
    return assistant == nullptr ? Reply(not_loaded()) : (this->*handler)(*assistant, request);
  };
}

void OpenAiApi::add_routes(Router& router) {
  const auto add = [&](std::string_view method, std::string_view path, AssistantHandler handler) {
    Route route;
    route.method = method;
    route.path = path;
    route.handler = when_loaded(handler);
    router.add(std::move(route));
  };
  const auto add_text = [&](std::string_view path, TextHandler handler) {
    Route route;
    route.method = "POST";
    route.path = path;
    route.handler = [this, handler](const HttpRequest& request) -> Reply {
      chat::Assistant* assistant = assistant_;
      return assistant == nullptr ? not_loaded() : handler(*assistant, request);
    };
    router.add(std::move(route));
  };
  add("POST", "/v1/chat/completions", &OpenAiApi::chat_completions);
  add("POST", "/v1/completions", &OpenAiApi::completions);
  add("POST", "/v1/embeddings", &OpenAiApi::embeddings);
  add("GET", "/v1/models", &OpenAiApi::models);
  add("GET", "/v1/models/{id}", &OpenAiApi::model);
  add_text("/tokenize", tokenize);
  add_text("/detokenize", detokenize);
  add_text("/apply-template", apply_template);
  router.add({.method = "POST",
              .path = "/v1/responses",
              .handler = not_built("The Responses API is not built yet: /v1/chat/completions is."),
              .is_quick = true});
  router.add({.method = "POST",
              .path = "/v1/messages",
              .handler = not_built("The Messages API is not built yet: /v1/chat/completions is."),
              .is_quick = true});
  router.add({.method = "GET",
              .path = "/health",
              .handler = [this](const HttpRequest& request) { return health(request); },
              .needs_key = false,
              .is_quick = true});
  router.add({.method = "GET",
              .path = "/metrics",
              .handler = [this](const HttpRequest& request) { return metrics_text(request); },
              .is_quick = true});
}

Reply OpenAiApi::chat_completions(chat::Assistant& assistant, const HttpRequest& request) {
  const Json body = parse_body(request);
  const ChatRequest chat = read_chat_request(body, assistant.model());
  try {
    const std::vector<chat::Prompt> prompts{build_prompt(assistant.builder(), chat.prompt)};
    const AnswerWish& wish = chat.wish;
    const ChatFormatOptions format{.logprobs = wish.options.top_logprobs.has_value(),
                                   .include_usage = wish.include_usage};
    return start_turns(
        assistant, metrics_,
        turns_of(prompts, {chat.prompt.options, wish, client_of(request, wish),
                           count_calls(chat.prompt.messages)}),
        std::make_unique<ChatFormat>(new_answer_head("chatcmpl-", assistant.model()), format),
        {.stream = wish.stream, .include_usage = wish.include_usage});
  } catch (const Error& error) {
    return to_response(turn_error(error, body, "messages"));
  }
}

Reply OpenAiApi::completions(chat::Assistant& assistant, const HttpRequest& request) {
  const Json body = parse_body(request);
  const CompletionRequest completion = read_completion_request(body, assistant.model());
  const AnswerWish& wish = completion.wish;
  CompletionFormatOptions format{.logprobs = wish.options.top_logprobs.has_value(),
                                 .include_usage = wish.include_usage,
                                 .n = wish.n};
  std::vector<chat::Prompt> prompts;
  for (const RawInput& input : completion.prompts) {
    prompts.push_back(raw_prompt(assistant.builder().tokenizer(), input));
    if (completion.echo) {
      format.echoes.insert(format.echoes.end(), wish.n, prompts.back().text.bytes());
    }
  }
  try {
    return start_turns(
        assistant, metrics_,
        turns_of(prompts, {.wish = wish, .client = client_of(request, wish), .raw = true}),
        std::make_unique<CompletionFormat>(new_answer_head("cmpl-", assistant.model()),
                                           std::move(format)),
        {.stream = wish.stream, .include_usage = wish.include_usage});
  } catch (const Error& error) {
    return to_response(turn_error(error, body, "prompt"));
  }
}

Reply OpenAiApi::embeddings(chat::Assistant& assistant, const HttpRequest& request) {
  auto reply = std::make_shared<LiveReply>();
  EmbeddingRequest wanted = read_embedding_request(parse_body(request), assistant.model(),
                                                   assistant.builder().tokenizer());
  std::stop_source source;
  reply->set_cancel_action([source]() mutable { source.request_stop(); });
  embedding_queue_.add([&assistant, reply, wanted = std::move(wanted), stop = source.get_token()] {
    make_embeddings(assistant, wanted, *reply, stop);
  });
  return reply;
}

Reply OpenAiApi::models(chat::Assistant& assistant, const HttpRequest& /*request*/) {
  return json_response(
      200, {{"object", "list"}, {"data", Json::array({model_json(assistant.model(), created_)})}});
}

Reply OpenAiApi::model(chat::Assistant& assistant, const HttpRequest& request) {
  check_model(Fields({{"model", request.rest}}, ""), assistant.model());
  return json_response(200, model_json(assistant.model(), created_));
}

Reply OpenAiApi::health(const HttpRequest& /*request*/) const {
  return assistant_ == nullptr ? json_response(503, {{"status", "loading"}})
                               : json_response(200, {{"status", "ok"}});
}

Reply OpenAiApi::metrics_text(const HttpRequest& /*request*/) const {
  const chat::Assistant* assistant = assistant_;
  std::optional<chat::AssistantStats> stats;
  if (assistant != nullptr) {
    stats = assistant->stats();
  }
  return HttpResponse{200,
                      {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
                      metrics_.text(stats ? &*stats : nullptr)};
}

}  // namespace smol::server
