// Flags that several commands share, and what they mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "chat/prompt_builder.h"
#include "engine/sampler.h"
#include "model/config.h"
#include "model/decoder.h"

namespace CLI {
class App;
}

namespace smol::app {

// The context asked for, in tokens.
struct DefaultContext {};  // the smaller of kDefaultContext and the model's

struct AutoContext {};  // the largest that the model allows and memory holds

using ContextChoice = std::variant<DefaultContext, AutoContext, std::size_t>;

inline constexpr std::size_t kDefaultContext = 16384;

// chat, run, bench, eval, logits, tokenize, template.
struct ModelOptions {
  std::optional<std::filesystem::path> model;  // none: see model_choice.h
  std::optional<std::size_t> threads;          // none: default_thread_count()
  ContextChoice context;
  model::KvCacheType kv_type = model::KvCacheType::Int8;
  std::optional<std::filesystem::path> chat_template;
  std::optional<std::filesystem::path> tokenizer;
  std::filesystem::path panel_file;  // empty: none
};

// --model, --tokenizer; a part that runs no model needs no more.
void add_file_options(CLI::App& command, ModelOptions& options);
void add_template_option(CLI::App& command, ModelOptions& options);
// --threads --context --kv-type --panel-file
void add_compute_options(CLI::App& command, ModelOptions& options);

// What goes into the prompt: chat, run, template.
struct ConversationOptions {
  std::optional<std::string> system;
  std::optional<bool> think;  // none: what the template does by itself
  std::optional<std::filesystem::path> tools;
  std::optional<std::filesystem::path> python_tools;
};

void add_conversation_options(CLI::App& command, ConversationOptions& options);
// Reads the files. Throws Error{BadInput} naming the flag and the field's path.
chat::PromptOptions prompt_options(const ConversationOptions& options);

// How an answer is drawn and where it ends: chat, run.
struct AnswerOptions {
  std::optional<double> temperature, top_p;  // none: the model's default
  engine::SamplingSettings sampling;         // everything else
  std::size_t max_tokens = 0;                // 0: as many as the context holds
  std::vector<std::string> stop;
};

void add_answer_options(CLI::App& command, AnswerOptions& options);
// With the defaults of the model: 0.6 and 0.95 for SmolLM3, else 1 and 1.
engine::SamplingSettings sampling_settings(const AnswerOptions& options,
                                           const model::ModelConfig& config);

// "1,2, 3" -> ids in [0, 2^31). Throws Error{BadInput} naming `what`.
std::vector<TokenId> parse_ids(const std::string& what, const std::string& text);
// "128=-100" -> id and bias. Throws Error{BadInput} naming `what`.
engine::LogitBias parse_logit_bias(const std::string& what, const std::string& text);

inline constexpr double kMaxTemperature = 100.0;

}  // namespace smol::app
