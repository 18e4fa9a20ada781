// A model file made ready: the parts in the order in which they depend on each other.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "app/options.h"
#include "base/thread_pool.h"
#include "chat/chat_service.h"
#include "chat/prompt_builder.h"
#include "engine/generator.h"
#include "gguf/file.h"
#include "model/decoder.h"
#include "model/weights.h"
#include "text/tokenizer.h"

namespace smol::app {

// What runs the model: tokens in, logits out. One thread. Parts refer to each other: it stays where
// it is.
struct Runtime {
  // `least_context`: positions needed in each slot when the options ask for no context of their
  // own. Throws Error.
  Runtime(const std::filesystem::path& path, const ModelOptions& options,
          std::optional<std::size_t> least_context = std::nullopt, std::size_t max_batch = 512,
          std::size_t n_slots = 1);
  ~Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  struct Plan {
    model::ModelConfig config;
    std::size_t n_slots = 1;
    std::size_t context = 0;  // positions of each slot
  };

  gguf::File file;
  Plan plan;
  ThreadPool pool;
  model::Weights weights;
  std::unique_ptr<model::Decoder> decoder;

 private:
  Runtime(gguf::File opened, const ModelOptions& options, std::size_t max_batch,
          std::size_t n_slots);
};

// --tokenizer, else the model file's. Errors name the flag that gives another one.
text::Tokenizer open_tokenizer(const gguf::File& file, const ModelOptions& options);
// With --chat-template, else the model file's. Throws Error naming the flag or the file: there is
// none, or it cannot be parsed. The tokenizer must outlive it.
chat::PromptBuilder make_prompt_builder(const gguf::File& file, const ModelOptions& options,
                                        const text::Tokenizer& tokenizer);

// A runtime that speaks text.
struct Assistant {
  Assistant(const std::filesystem::path& path, const ModelOptions& options);
  ~Assistant() = default;
  Assistant(const Assistant&) = delete;
  Assistant& operator=(const Assistant&) = delete;

  Runtime runtime;
  text::Tokenizer tokenizer;
  engine::Generator generator;
};

// An assistant that has a template.
struct Conversationalist {
  Conversationalist(const std::filesystem::path& path, const ModelOptions& options);
  ~Conversationalist() = default;
  Conversationalist(const Conversationalist&) = delete;
  Conversationalist& operator=(const Conversationalist&) = delete;

  Assistant assistant;
  chat::PromptBuilder builder;
  chat::ChatService service;
};

}  // namespace smol::app
