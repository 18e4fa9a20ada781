// The routes for programs: OpenAI's API, the parts of it for those who debug, health and metrics.
#pragma once

#include <atomic>
#include <cstdint>

#include "chat/assistant.h"
#include "server/metrics.h"
#include "server/router.h"
#include "server/task_queue.h"

namespace smol::server {

class OpenAiApi {
 public:
  explicit OpenAiApi(Metrics& metrics);

  // The router's handlers refer to this object.
  void add_routes(Router& router);
  // The model is loaded: until then all routes but /health and /metrics answer 503. Once, any
  // thread; the assistant must outlive this object.
  void set_assistant(chat::Assistant& assistant);

 private:
  using AssistantHandler = Reply (OpenAiApi::*)(chat::Assistant&, const HttpRequest&);

  Handler when_loaded(AssistantHandler handler);
  Reply chat_completions(chat::Assistant& assistant, const HttpRequest& request);
  Reply completions(chat::Assistant& assistant, const HttpRequest& request);
  Reply embeddings(chat::Assistant& assistant, const HttpRequest& request);
  Reply models(chat::Assistant& assistant, const HttpRequest& request);
  Reply model(chat::Assistant& assistant, const HttpRequest& request);
  Reply health(const HttpRequest& request) const;
  Reply metrics_text(const HttpRequest& request) const;

  Metrics& metrics_;
  std::int64_t created_;  // seconds since 1970
  std::atomic<chat::Assistant*> assistant_{nullptr};
  TaskQueue embedding_queue_;
};

}  // namespace smol::server
