#include "app/open_model.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/console.h"
#include "app/memory_plan.h"
#include "app/text_input.h"
#include "base/cpu_info.h"
#include "base/error.h"
#include "kernels/kernel_table.h"

namespace smol::app {

namespace {

std::optional<std::size_t> stated_context(const ContextChoice& choice) {
  const auto* fixed = std::get_if<std::size_t>(&choice);
  return fixed == nullptr ? std::nullopt : std::optional(*fixed);
}

ContextChoice with_least(const ContextChoice& choice, std::optional<std::size_t> least) {
  return least && std::holds_alternative<DefaultContext>(choice) ? ContextChoice{*least} : choice;
}

ModelOptions with_least(ModelOptions options, std::optional<std::size_t> least) {
  options.context = with_least(options.context, least);
  return options;
}

// What fits is known before anything large is taken.
Runtime::Plan make_plan(const gguf::File& file, const ModelOptions& options, std::size_t n_slots) {
  Runtime::Plan plan;
  plan.n_slots = n_slots;
  plan.config = model::ModelConfig::from_gguf(file, stated_context(options.context));
  MemoryNeed need = memory_need(plan.config, options.kv_type, file.size_bytes());
  need.bytes_per_position *= n_slots;
  plan.context = plan_context(options.context, plan.config, need, available_memory_bytes());
  return plan;
}

std::string template_source(const gguf::File& file, const ModelOptions& options) {
  if (options.chat_template) {
    return read_text_file(*options.chat_template, "--chat-template", kMostTemplateBytes);
  }
  const std::optional<std::string_view> source = file.metadata().string("tokenizer.chat_template");
  if (!source) {
    throw Error{ErrorCode::NotFound,
                fmt::format("{}: tokenizer.chat_template: expected a template, found none "
                            "(--chat-template gives one, run --raw uses none)",
                            file.name())};
  }
  return std::string(*source);
}

// A model may have more rows than its tokenizer has ids, but another model's tokenizer only gives
// nonsense.
void check_tokenizer(const gguf::File& file, const text::Tokenizer& tokenizer,
                     const ModelOptions& options, std::size_t model_vocabulary) {
  if (!options.tokenizer) {
    return;
  }
  const std::size_t found = tokenizer.vocab_size();
  const auto own = file.metadata().strings("tokenizer.ggml.tokens");
  if (found > model_vocabulary || (own && own->size() != found)) {
    throw Error{ErrorCode::BadInput,
                fmt::format("--tokenizer: {}: expected the vocabulary of {} ({} tokens), found {}",
                            options.tokenizer->string(), file.name(),
                            own ? own->size() : model_vocabulary, found)};
  }
}

// A SmolLM3 may be read at twice the context that its file states.
void tell_of_stretched_context(const Runtime& runtime) {
  const std::string key = runtime.weights.config().architecture + ".context_length";
  const std::uint64_t stated = runtime.file.metadata().unsigned_integer(key).value_or(0);
  const std::size_t context = runtime.decoder->options().context;
  if (context > stated) {
    note(
        fmt::format("smolbot: --context: {} tokens are more than the {} of this model (YaRN "
                    "stretches them): answers may be worse",
                    context, stated));
  }
}

}  // namespace

Runtime::Runtime(const std::filesystem::path& path, const ModelOptions& options,
                 std::optional<std::size_t> least_context, std::size_t max_batch,
                 std::size_t n_slots)
    : Runtime(gguf::File::open(path), with_least(options, least_context), max_batch, n_slots) {}

Runtime::Runtime(gguf::File opened, const ModelOptions& options, std::size_t max_batch,
                 std::size_t n_slots)
    : file(std::move(opened)),
      plan(make_plan(file, options, n_slots)),
      pool(options.threads.value_or(default_thread_count())),
      weights(file, plan.config, pool),
      decoder(model::make_cpu_decoder(weights,
                                      {.n_slots = plan.n_slots,
                                       .context = plan.context,
                                       .kv_type = options.kv_type,
                                       .max_batch = max_batch},
                                      pool, kernels::active_kernels())) {}

text::Tokenizer open_tokenizer(const gguf::File& file, const ModelOptions& options) {
  if (options.tokenizer) {
    try {
      return text::Tokenizer::open(*options.tokenizer);
    } catch (const Error& error) {
      throw Error{error.code(), fmt::format("--tokenizer: {}", error.what())};
    }
  }
  try {
    return text::Tokenizer::from_gguf(file);
  } catch (const Error& error) {
    throw Error{error.code(),
                fmt::format("{} (--tokenizer gives another tokenizer)", error.what())};
  }
}

chat::PromptBuilder make_prompt_builder(const gguf::File& file, const ModelOptions& options,
                                        const text::Tokenizer& tokenizer) {
  const std::string source = template_source(file, options);
  try {
    return {source, tokenizer};
  } catch (const Error& error) {
    const std::string name = options.chat_template
                                 ? "--chat-template: " + options.chat_template->string()
                                 : std::string(file.name()) + ": tokenizer.chat_template";
    throw Error{error.code(), fmt::format("{}: {}", name, error.what())};
  }
}

Assistant::Assistant(const std::filesystem::path& path, const ModelOptions& options)
    : runtime(path, options),
      tokenizer(open_tokenizer(runtime.file, options)),
      generator(*runtime.decoder) {
  check_tokenizer(runtime.file, tokenizer, options, runtime.weights.config().vocab_size);
  tell_of_stretched_context(runtime);
}

Conversationalist::Conversationalist(const std::filesystem::path& path, const ModelOptions& options)
    : assistant(path, options),
      builder(make_prompt_builder(assistant.runtime.file, options, assistant.tokenizer)),
      service(builder, assistant.generator) {}

}  // namespace smol::app
