#include "app/open_model.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/console.h"
#include "app/memory_plan.h"
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
Runtime::Plan make_plan(const gguf::File& file, const ModelOptions& options) {
  Runtime::Plan plan;
  plan.config = model::ModelConfig::from_gguf(file, stated_context(options.context));
  const MemoryNeed need = memory_need(plan.config, options.kv_type, file.size_bytes());
  plan.context = plan_context(options.context, plan.config, need, available_memory_bytes());
  return plan;
}

}  // namespace

Runtime::Runtime(const std::filesystem::path& path, const ModelOptions& options,
                 std::optional<std::size_t> least_context, std::size_t max_batch)
    : Runtime(gguf::File::open(path), with_least(options, least_context), max_batch) {}

Runtime::Runtime(gguf::File opened, const ModelOptions& options, std::size_t max_batch)
    : file(std::move(opened)),
      plan(make_plan(file, options)),
      weights(file, plan.config),
      pool(options.threads.value_or(default_thread_count())),
      decoder(model::make_cpu_decoder(weights,
                                      {.n_slots = 1,
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

std::string template_source(const gguf::File& file, const ModelOptions& options) {
  if (options.chat_template) {
    return read_text_file(options.chat_template->string(), "--chat-template");
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

Assistant::Assistant(const std::filesystem::path& path, const ModelOptions& options)
    : runtime(path, options),
      tokenizer(open_tokenizer(runtime.file, options)),
      generator(*runtime.decoder) {}

Conversationalist::Conversationalist(const std::filesystem::path& path, const ModelOptions& options)
    : assistant(path, options),
      builder(template_source(assistant.runtime.file, options), assistant.tokenizer),
      service(builder, assistant.generator) {}

}  // namespace smol::app
