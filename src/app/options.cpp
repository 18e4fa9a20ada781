#include "app/options.h"

#include <limits>

#include <fmt/format.h>

#include "app/flags.h"
#include "app/kv_types.h"
#include "app/numbers.h"
#include "app/text_input.h"
#include "base/error.h"
#include "base/json.h"

namespace smol::app {

namespace {

constexpr std::uint64_t kMaxContext = std::uint64_t{1} << 24U;
constexpr std::uint64_t kMaxThreads = 1024;
constexpr std::int64_t kMaxId = std::numeric_limits<TokenId>::max();
// OpenAI's bounds for biases and penalties are narrower; these are the sampler's.
constexpr Bounds<double> kSigned{-100.0, 100.0};

ContextChoice parse_context(const std::string& what, const std::string& text) {
  if (text == "auto") {
    return AutoContext{};
  }
  try {
    return static_cast<std::size_t>(parse_count(what, text, {1, kMaxContext}));
  } catch (const Error&) {
    throw Error{ErrorCode::BadInput,
                fmt::format("{}: expected auto or a whole number from 1 to {}, found {}", what,
                            kMaxContext, in_quotes(text))};
  }
}

Json parse_file(const std::filesystem::path& path, std::string_view flag) {
  const std::string text = read_text_file(path, flag, kMostToolsBytes);
  return parse_json(text, fmt::format("{}: {}", flag, path.string()));
}

std::vector<std::string> read_python_tools(const std::filesystem::path& path) {
  const Json value = parse_file(path, "--python-tools");
  const std::string expected = fmt::format(
      "--python-tools: {}: expected a list of strings (Python signatures), found ", path.string());
  if (!value.is_array()) {
    throw Error{ErrorCode::BadInput, expected + value.type_name()};
  }
  std::vector<std::string> tools;
  for (const Json& tool : value) {
    if (!tool.is_string()) {
      throw Error{ErrorCode::BadInput, expected + tool.type_name() + " in it"};
    }
    tools.push_back(tool.get<std::string>());
  }
  return tools;
}

void add_penalties(CLI::App& command, AnswerOptions& options) {
  engine::SamplingSettings& sampling = options.sampling;
  add_number(command,
             {"--repetition-penalty", "divides the logits of tokens that were there; 1: off", "1"},
             {0.01, 100.0}, sampling.repetition_penalty);
  add_number(command,
             {"--presence-penalty", "subtracted from the logits of tokens that were there", "0"},
             kSigned, sampling.presence_penalty);
  add_number(command, {"--frequency-penalty", "the same, for each time they were there", "0"},
             kSigned, sampling.frequency_penalty);
  add_list(command,
           {"--logit-bias",
            "added to the logit of a token id; may be repeated, the variable gives one", "none"},
           "ID=BIAS", [&sampling](const auto& what, const auto& text) {
             sampling.logit_bias.push_back(parse_logit_bias(what, text));
           });
}

}  // namespace

void add_file_options(CLI::App& command, ModelOptions& options) {
  add_input_file(
      command,
      {"-m,--model", "the model file (GGUF)", "the newest SmolLM3 in models/, else the demo model"},
      options.model);
  add_input_file(
      command,
      {"--tokenizer", "a tokenizer.json or GGUF to take the tokenizer from", "the model file"},
      options.tokenizer);
}

void add_template_option(CLI::App& command, ModelOptions& options) {
  add_text_file(command, {"--chat-template", "a Jinja template to use", "the model file's"},
                options.chat_template);
}

void add_compute_options(CLI::App& command, ModelOptions& options) {
  add_count(command, {"-t,--threads", "threads to compute with", "physical cores allowed"},
            {1, kMaxThreads}, options.threads);
  add_value(command,
            {"-c,--context", "most tokens of prompt and answer; auto: as many as fit memory",
             fmt::format("the smaller of {} and the model's", kDefaultContext)},
            "N|auto", [&options](const auto& what, const auto& text) {
              options.context = parse_context(what, text);
            });
  add_choice<model::KvCacheType>(command,
                                 {"--kv-type", "element type of the key/value cache", "int8"},
                                 kv_types(), options.kv_type);
  add_path(
      command,
      {"--panel-file",
       "keeps the weights there as they lie in memory, as many bytes again: the next start with "
       "the same model takes them from there at once",
       "none"},
      options.panel_file);
}

void add_conversation_options(CLI::App& command, ConversationOptions& options) {
  add_text(command, {"--system", "the system message", "none"}, options.system);
  add_opposites(command, {"--think", "think before answering", "as the template does"},
                {"--no-think", "answer without thinking", "as the template does"},
                [&options](bool on) { options.think = on; });
  add_text_file(command, {"--tools", "tools as in OpenAI's API: a file with a JSON list", "none"},
                options.tools);
  add_text_file(command,
                {"--python-tools",
                 "tools as Python functions: a file with a JSON list of signatures", "none"},
                options.python_tools);
}

chat::PromptOptions prompt_options(const ConversationOptions& options) {
  chat::PromptOptions prompt;
  if (options.think) {
    prompt.think = *options.think ? chat::ThinkMode::On : chat::ThinkMode::Off;
  }
  if (options.tools) {
    const Json tools = parse_file(*options.tools, "--tools");
    prompt.tools =
        chat::tools_from_json(tools, fmt::format("--tools: {}", options.tools->string()));
  }
  if (options.python_tools) {
    prompt.python_tools = read_python_tools(*options.python_tools);
  }
  prompt.now = chat::local_now();
  return prompt;
}

void add_answer_options(CLI::App& command, AnswerOptions& options) {
  add_number(command,
             {"--temperature", "0: always the most likely token", "0.6 for SmolLM3, else 1"},
             {0.0, kMaxTemperature}, options.temperature);
  add_count(command, {"--top-k", "draw from the k most likely tokens; 0: from all", "0"},
            {0, kMaxContext}, options.sampling.top_k);
  add_number(command,
             {"--top-p", "draw from the fewest tokens that reach this probability",
              "0.95 for SmolLM3, else 1"},
             {1e-9, 1.0}, options.top_p);
  add_number(command, {"--min-p", "least share of the largest probability", "0"}, {0.0, 1.0},
             options.sampling.min_p);
  add_penalties(command, options);
  add_count(command, {"--seed", "the same seed gives the same answer", "another one each time"},
            {0, std::numeric_limits<std::uint64_t>::max()}, options.sampling.seed);
  add_count(command, {"--max-tokens", "most tokens of an answer; 0: what the context holds", "0"},
            {0, kMaxContext}, options.max_tokens);
  add_list(
      command,
      {"--stop", "ends the answer where it comes; may be repeated, the variable gives one", "none"},
      "TEXT", [&options](const auto& what, const auto& text) {
        if (text.empty()) {
          throw Error{ErrorCode::BadInput, what + ": expected a text, found none"};
        }
        options.stop.push_back(text);
      });
}

engine::SamplingSettings sampling_settings(const AnswerOptions& options,
                                           const model::ModelConfig& config) {
  // SmolLM3's generation_config.json.
  constexpr double kSmolLm3Temperature = 0.6;
  constexpr double kSmolLm3TopP = 0.95;
  const bool is_smollm3 = config.architecture == "smollm3";
  engine::SamplingSettings settings = options.sampling;
  for (const engine::LogitBias& bias : settings.logit_bias) {
    if (static_cast<std::size_t>(bias.id) >= config.vocab_size) {
      throw Error{ErrorCode::BadInput,
                  fmt::format("--logit-bias: expected an id below {}, found {}", config.vocab_size,
                              bias.id)};
    }
  }
  settings.temperature = options.temperature.value_or(is_smollm3 ? kSmolLm3Temperature : 1.0);
  settings.top_p = options.top_p.value_or(is_smollm3 ? kSmolLm3TopP : 1.0);
  return settings;
}

std::vector<TokenId> parse_ids(const std::string& what, const std::string& text) {
  std::vector<TokenId> ids;
  for (const std::string& part : comma_parts(text)) {
    ids.push_back(static_cast<TokenId>(parse_integer(what, part, {0, kMaxId})));
  }
  return ids;
}

engine::LogitBias parse_logit_bias(const std::string& what, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw Error{ErrorCode::BadInput,
                fmt::format("{}: expected ID=BIAS, as in 128=-5, found {}", what, in_quotes(text))};
  }
  return {.id = static_cast<TokenId>(
              parse_integer(what + " (id)", text.substr(0, equals), {0, kMaxId})),
          .bias = parse_number(what + " (bias)", text.substr(equals + 1), kSigned)};
}

}  // namespace smol::app
