#include "app/open_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "app/console.h"
#include "app/memory_plan.h"
#include "app/model_choice.h"
#include "app/text_input.h"
#include "base/cpu_info.h"
#include "base/error.h"
#include "gguf/dtype.h"
#include "kernels/kernel_table.h"
#include "model/fingerprint.h"

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
Runtime::Plan make_plan(const gguf::File& file, const ModelOptions& options,
                        std::size_t n_contexts) {
  Runtime::Plan plan;
  plan.config = model::ModelConfig::from_gguf(file, stated_context(options.context));
  const MemoryNeed need = memory_need(plan.config, options.kv_type, file.size_bytes());
  const std::uint64_t available = available_memory_bytes();
  plan.context = plan_context(options.context, plan.config, need, available);
  plan.n_blocks = plan_blocks(plan.context, n_contexts, need, available);
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

engine::EngineOptions with_fingerprint(engine::EngineOptions options, const Runtime& runtime) {
  options.model_fingerprint = model::fingerprint(runtime.file, runtime.weights.config());
  return options;
}

// Of the type that holds most bytes.
std::string quantization_of(const gguf::File& file) {
  std::map<gguf::DType, std::size_t> bytes;
  for (const gguf::TensorView& tensor : file.tensors()) {
    bytes[tensor.dtype] += tensor.bytes.size();
  }
  const auto most = std::ranges::max_element(bytes, {}, [](const auto& one) { return one.second; });
  return most == bytes.end() ? "" : std::string(gguf::traits(most->first).name);
}

chat::ModelFacts facts_of(const Runtime& runtime, const std::filesystem::path& path) {
  const model::ModelConfig& config = runtime.weights.config();
  return {.id = path.stem().string(),
          .architecture = config.architecture,
          .quantization = quantization_of(runtime.file),
          .context = runtime.decoder->options().context,
          .vocab_size = config.vocab_size,
          .embedding_size = config.d_model,
          .file_bytes = runtime.file.size_bytes(),
          .is_demo = is_demo_model(path)};
}

}  // namespace

Runtime::Runtime(const std::filesystem::path& path, const ModelOptions& options,
                 std::optional<std::size_t> least_context, const Capacity& capacity)
    : Runtime(gguf::File::open(path), with_least(options, least_context), capacity) {}

Runtime::Runtime(gguf::File opened, const ModelOptions& options, const Capacity& capacity)
    : file(std::move(opened)),
      plan(make_plan(file, options, capacity.n_contexts)),
      pool(options.threads.value_or(default_thread_count())),
      weights(file, plan.config, pool, options.panel_file),
      decoder(model::make_cpu_decoder(weights,
                                      {.n_slots = capacity.n_slots,
                                       .context = plan.context,
                                       .kv_type = options.kv_type,
                                       .max_batch = capacity.max_batch,
                                       .n_blocks = plan.n_blocks},
                                      pool, kernels::active_kernels())) {
  for (const std::string& warning : weights.load_report().warnings) {
    note("smolbot: --panel-file: " + warning);
  }
}

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

Assistant::Assistant(const std::filesystem::path& path, const ModelOptions& options,
                     const EngineSetup& setup)
    : runtime(path, options, std::nullopt, setup.capacity),
      tokenizer(open_tokenizer(runtime.file, options)),
      engine(*runtime.decoder, with_fingerprint(setup.engine, runtime)) {
  check_tokenizer(runtime.file, tokenizer, options, runtime.weights.config().vocab_size);
  tell_of_stretched_context(runtime);
}

Conversationalist::Conversationalist(const std::filesystem::path& path, const ModelOptions& options,
                                     const EngineSetup& setup)
    : assistant(path, options, setup),
      builder(make_prompt_builder(assistant.runtime.file, options, assistant.tokenizer)),
      service(builder, assistant.engine, facts_of(assistant.runtime, path)) {}

}  // namespace smol::app
