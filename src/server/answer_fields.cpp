#include "server/answer_fields.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/json.h"

namespace smol::server {
namespace {

constexpr std::uint64_t kMostTokens = 1UL << 24U;
constexpr std::size_t kMostStops = 16;
constexpr std::size_t kMostStopBytes = 1024;
constexpr std::size_t kMostBiases = 1024;
constexpr std::size_t kMostUserBytes = 512;
// OpenAI's ranges.
constexpr Range<double> kTemperature{0, 2}, kShare{0, 1}, kPenalty{-2, 2}, kBias{-100, 100};
// The sampler's; 1 switches it off.
constexpr Range<double> kRepetition{0.01, 100};
// OpenAI allows a top_p of 0, the sampler wants more: the most likely token alone, too.
constexpr double kLeastTopP = 1e-9;

void read_sampling(const Fields& fields, const chat::ModelFacts& model,
                   engine::SamplingSettings& sampling) {
  // What the authors of SmolLM3 advise (generation_config.json).
  const bool is_smollm3 = model.architecture == "smollm3";
  sampling.temperature = fields.number("temperature", kTemperature).value_or(is_smollm3 ? 0.6 : 1);
  const double top_p = fields.number("top_p", kShare).value_or(is_smollm3 ? 0.95 : 1);
  sampling.top_p = std::max(top_p, kLeastTopP);
  sampling.top_k = fields.count("top_k", {0, kMostTokens}).value_or(0);
  sampling.min_p = fields.number("min_p", kShare).value_or(0);
  sampling.repetition_penalty = fields.number("repetition_penalty", kRepetition).value_or(1);
  sampling.presence_penalty = fields.number("presence_penalty", kPenalty).value_or(0);
  sampling.frequency_penalty = fields.number("frequency_penalty", kPenalty).value_or(0);
  if (const auto seed = fields.integer("seed")) {
    sampling.seed = static_cast<std::uint64_t>(*seed);
  }
}

// {"128": -100}: token ids as the keys.
std::vector<engine::LogitBias> read_biases(const Fields& fields, std::size_t vocab_size) {
  std::vector<engine::LogitBias> out;
  const Json* biases = fields.object("logit_bias");
  if (biases == nullptr) {
    return out;
  }
  const std::string path = fields.path_of("logit_bias");
  if (biases->size() > kMostBiases) {
    throw Error{ErrorCode::BadInput, path + ": expected at most " + std::to_string(kMostBiases) +
                                         " entries, found " + std::to_string(biases->size())};
  }
  const Fields values(*biases, path);
  for (const auto& [key, value] : biases->items()) {
    TokenId id = -1;
    const char* end = key.data() + key.size();
    const auto read = std::from_chars(key.data(), end, id);
    if (read.ec != std::errc{} || read.ptr != end || id < 0 ||
        static_cast<std::size_t>(id) >= vocab_size) {
      refuse(path, "token ids below " + std::to_string(vocab_size) + " as keys", Json(key));
    }
    const auto bias = values.number(key, kBias);
    if (bias) {
      out.push_back({id, *bias});
    }
  }
  return out;
}

std::string checked_stop(const Json& value, const std::string& path) {
  const bool fits = value.is_string() && !value.get_ref<const std::string&>().empty() &&
                    value.get_ref<const std::string&>().size() <= kMostStopBytes;
  if (!fits) {
    refuse(path, "a string of 1 to " + std::to_string(kMostStopBytes) + " bytes", value);
  }
  return value.get<std::string>();
}

std::vector<std::string> read_stops(const Fields& fields) {
  const Json* value = fields.find("stop");
  if (value == nullptr) {
    return {};
  }
  const std::string path = fields.path_of("stop");
  if (value->is_string()) {
    return {checked_stop(*value, path)};
  }
  if (!value->is_array()) {
    refuse(path, "a string or a list of strings", *value);
  }
  std::vector<std::string> out;
  const Json* list = fields.list("stop", kMostStops);
  for (std::size_t i = 0; i < list->size(); ++i) {
    out.push_back(checked_stop((*list)[i], joined_path(path, i)));
  }
  return out;
}

bool read_include_usage(const Fields& fields, bool stream) {
  const Json* value = fields.object("stream_options");
  if (value == nullptr) {
    return false;
  }
  if (!stream) {
    refuse(fields.path_of("stream_options"), "none unless stream is true", *value);
  }
  return Fields(*value, fields.path_of("stream_options")).boolean("include_usage").value_or(false);
}

}  // namespace

AnswerWish read_answer_wish(const Fields& fields, const chat::ModelFacts& model) {
  AnswerWish wish;
  read_sampling(fields, model, wish.options.sampling);
  wish.options.sampling.logit_bias = read_biases(fields, model.vocab_size);
  const auto tokens = fields.count("max_tokens", {1, kMostTokens});
  wish.options.max_tokens =
      fields.count("max_completion_tokens", {1, kMostTokens}).value_or(tokens.value_or(0));
  wish.options.stop_strings = read_stops(fields);
  const bool rolls = fields.choice("context_overflow", {"error", "rolling"}) == 1U;
  wish.options.overflow = rolls ? chat::ContextOverflow::Roll : chat::ContextOverflow::Refuse;
  wish.options.cache_prompt = fields.boolean("cache_prompt").value_or(true);
  wish.n = fields.count("n", {1, kMostAnswers}).value_or(1);
  wish.stream = fields.boolean("stream").value_or(false);
  wish.include_usage = read_include_usage(fields, wish.stream);
  wish.user = fields.text("user", kMostUserBytes).value_or("");
  return wish;
}

void check_model(const Fields& fields, const chat::ModelFacts& model) {
  const auto name = fields.text("model");
  if (name && *name != model.id && *name != "smolbot") {
    throw Error{ErrorCode::NotFound, fields.path_of("model") + ": expected " + model.id +
                                         " or smolbot, found " + found_text(*fields.find("model"))};
  }
}

std::optional<std::uint64_t> seed_of(std::optional<std::uint64_t> seed, std::size_t index) {
  constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15U;
  return seed ? std::optional(*seed + index * kGoldenRatio) : std::nullopt;
}

}  // namespace smol::server
