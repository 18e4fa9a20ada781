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
#include "engine/engine.h"
#include "gguf/file.h"
#include "model/decoder.h"
#include "model/weights.h"
#include "text/tokenizer.h"

namespace smol::app {

// What a decoder is to hold.
struct Capacity {
  std::size_t max_batch = 512;
  std::size_t n_slots = 1;
  std::size_t n_contexts = 1;  // whole ones in the cache, where memory allows
};

// What runs the model: tokens in, logits out. One thread. Parts refer to each other: it stays where
// it is.
struct Runtime {
  // `least_context`: positions needed when the options ask for no context of their own. Throws
  // Error.
  Runtime(const std::filesystem::path& path, const ModelOptions& options,
          std::optional<std::size_t> least_context = std::nullopt, const Capacity& capacity = {});
  ~Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  struct Plan {
    model::ModelConfig config;
    std::size_t context = 0;   // positions of one slot
    std::size_t n_blocks = 0;  // of the cache
  };

  gguf::File file;
  Plan plan;
  ThreadPool pool;
  model::Weights weights;
  std::unique_ptr<model::Decoder> decoder;

 private:
  Runtime(gguf::File opened, const ModelOptions& options, const Capacity& capacity);
};

// --tokenizer, else the model file's. Errors name the flag that gives another one.
text::Tokenizer open_tokenizer(const gguf::File& file, const ModelOptions& options);
// With --chat-template, else the model file's. Throws Error naming the flag or the file: there is
// none, or it cannot be parsed. The tokenizer must outlive it.
chat::PromptBuilder make_prompt_builder(const gguf::File& file, const ModelOptions& options,
                                        const text::Tokenizer& tokenizer);

// How an engine is set up for one sequence at a time, which is all that a terminal needs.
struct EngineSetup {
  engine::EngineOptions engine = {};
  Capacity capacity = {};
};

// A runtime that speaks text.
struct Assistant {
  Assistant(const std::filesystem::path& path, const ModelOptions& options,
            const EngineSetup& setup = {});
  ~Assistant() = default;
  Assistant(const Assistant&) = delete;
  Assistant& operator=(const Assistant&) = delete;

  Runtime runtime;
  text::Tokenizer tokenizer;
  engine::Engine engine;
};

// An assistant that has a template.
struct Conversationalist {
  Conversationalist(const std::filesystem::path& path, const ModelOptions& options,
                    const EngineSetup& setup = {});
  ~Conversationalist() = default;
  Conversationalist(const Conversationalist&) = delete;
  Conversationalist& operator=(const Conversationalist&) = delete;

  Assistant assistant;
  chat::PromptBuilder builder;
  chat::ChatService service;
};

}  // namespace smol::app
