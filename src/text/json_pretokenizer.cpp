#include "text/json_pretokenizer.h"

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "text/json_fields.h"

namespace smol::text {
namespace {

constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::size_t kMaxQuoted = 300;  // bytes of a pre-tokenizer in a message

enum class Step { SplitLlama3, SplitGpt2, Digits, ByteLevel, ByteLevelGpt2, Unknown };

Step split_step(const JsonFields& step) {
  const Json* pattern = step.find("pattern");
  if (pattern == nullptr || step.required_string("behavior") != "Isolated" ||
      step.boolean("invert", false)) {
    return Step::Unknown;
  }
  const auto regex = JsonFields(*pattern, step.name_of("pattern")).string("Regex");
  if (regex == kLlama3) {
    return Step::SplitLlama3;
  }
  return regex == kGpt2 ? Step::SplitGpt2 : Step::Unknown;
}

Step recognize_step(const JsonFields& step) {
  const std::string type = step.required_string("type");
  if (type == "Split") {
    return split_step(step);
  }
  if (type == "Digits" && step.boolean("individual_digits", false)) {
    return Step::Digits;
  }
  if (type == "ByteLevel" && !step.boolean("add_prefix_space", true)) {
    return step.boolean("use_regex", true) ? Step::ByteLevelGpt2 : Step::ByteLevel;
  }
  return Step::Unknown;
}

std::vector<Step> recognize_steps(const JsonFields& pre_tokenizer) {
  if (pre_tokenizer.required_string("type") != "Sequence") {
    return {recognize_step(pre_tokenizer)};
  }
  const Json* list = pre_tokenizer.find("pretokenizers");
  if (list == nullptr || !list->is_array()) {
    pre_tokenizer.fail("pretokenizers", "an array");
  }
  std::vector<Step> steps;
  for (const Json& step : *list) {
    steps.push_back(recognize_step(JsonFields(step, pre_tokenizer.name_of("pretokenizers"))));
  }
  return steps;
}

}  // namespace

PreTokenizer recognize_pre_tokenizer(const Json& pre_tokenizer) {
  const auto steps = recognize_steps(JsonFields(pre_tokenizer, "pre_tokenizer"));
  if (steps == std::vector{Step::SplitLlama3, Step::ByteLevel}) {
    return PreTokenizer::Llama3;
  }
  if (steps == std::vector{Step::ByteLevelGpt2} ||
      steps == std::vector{Step::SplitGpt2, Step::ByteLevel}) {
    return PreTokenizer::Gpt2;
  }
  if (steps == std::vector{Step::Digits, Step::ByteLevelGpt2}) {
    return PreTokenizer::DigitsGpt2;
  }
  throw Error(ErrorCode::Unsupported,
              "pre_tokenizer: expected that of Llama 3, GPT-2 or SmolLM2, found " +
                  pre_tokenizer.dump(-1, ' ', true).substr(0, kMaxQuoted));
}

}  // namespace smol::text
