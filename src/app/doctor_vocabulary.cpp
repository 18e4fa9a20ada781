#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "app/doctor_checks.h"
#include "base/utf8.h"
#include "gguf/printable.h"

namespace smol::app {
namespace {

using gguf::printable;

constexpr std::int64_t kControl = 3;
constexpr std::int64_t kUserDefined = 4;
constexpr std::string_view kEndOfTurn = "<|im_end|>";

// Added tokens of SmolLM3 that are `special: false`: found in text, kept in the answer.
constexpr std::array<std::string_view, 8> kTagTokens{
    "<think>",     "</think>",     "<tool_response>", "</tool_response>",
    "<tool_call>", "</tool_call>", "<code>",          "</code>"};

class Vocabulary {
 public:
  explicit Vocabulary(std::span<const std::string_view> tokens) : tokens_(tokens) {
    for (std::size_t id = 0; id < tokens.size(); ++id) {
      ids_.emplace(tokens[id], id);
    }
  }

  std::span<const std::string_view> tokens() const noexcept { return tokens_; }

  std::optional<std::size_t> find(std::string_view text) const {
    const auto found = ids_.find(text);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  std::size_t n_distinct() const noexcept { return ids_.size(); }

  // `"<|im_end|>" (4108)`, or that there is no such id.
  std::string name(std::uint64_t id) const {
    return id < tokens_.size() ? fmt::format("\"{}\" ({})", printable(tokens_[id]), id)
                               : fmt::format("id {} outside the vocabulary", id);
  }

 private:
  std::span<const std::string_view> tokens_;
  std::unordered_map<std::string_view, std::size_t> ids_;
};

void check_pre(const gguf::File& file, Family family, Findings& findings) {
  const std::string_view pre = file.metadata().string("tokenizer.ggml.pre").value_or("");
  std::string_view expected;
  bool is_right = true;
  if (family == Family::SmolLM3 || family == Family::Llama3) {
    constexpr std::array<std::string_view, 4> kLlama3{"smaug-bpe", "llama-bpe", "llama3",
                                                      "llama-v3"};
    expected = family == Family::SmolLM3 ? "smaug-bpe" : "llama-bpe";
    is_right = std::find(kLlama3.begin(), kLlama3.end(), pre) != kLlama3.end();
  } else if (family == Family::SmolLM2) {
    expected = "smollm";
    is_right = pre == expected;
  }
  if (is_right) {
    findings.good("pre-tokenizer", printable(pre));
  } else {
    findings.fault("pre-tokenizer",
                   fmt::format("tokenizer.ggml.pre: expected {}, found \"{}\": text is split into "
                               "other words than in training",
                               expected, printable(pre)),
                   std::string(kConvertOrGiveTokenizer));
  }
}

// The token that ends a turn in the chat template.
std::optional<std::string_view> turn_end(const gguf::File& file, Family family) {
  const std::string_view source = file.metadata().string("tokenizer.chat_template").value_or("");
  for (const std::string_view token : {kEndOfTurn, std::string_view("<|eot_id|>")}) {
    if (source.find(token) != std::string_view::npos) {
      return token;
    }
  }
  return family == Family::SmolLM3 ? std::optional(kEndOfTurn) : std::nullopt;
}

void check_end(const gguf::File& file, Family family, const Vocabulary& vocabulary,
               Findings& findings) {
  const auto eos = file.metadata().unsigned_integer("tokenizer.ggml.eos_token_id");
  const std::optional<std::string_view> expected = turn_end(file, family);
  const std::string found = eos ? vocabulary.name(*eos) : "no such key";
  const std::optional<std::size_t> wanted = expected ? vocabulary.find(*expected) : std::nullopt;
  const bool is_right = eos && *eos < vocabulary.tokens().size() && (!expected || wanted == *eos);
  if (is_right) {
    findings.good("end of turn", found);
  } else {
    findings.fault(
        "end of turn",
        fmt::format("tokenizer.ggml.eos_token_id: expected {}, found {}: answers may "
                    "not stop",
                    wanted ? vocabulary.name(*wanted) : "a token of the vocabulary", found),
        std::string(kConvertOrGiveTokenizer));
  }
}

void check_begin(const gguf::File& file, Family family, Findings& findings) {
  const bool adds = file.metadata().boolean("tokenizer.ggml.add_bos_token").value_or(false);
  if (adds && family != Family::Llama3 && family != Family::Other) {
    findings.fault("begin of text",
                   "tokenizer.ggml.add_bos_token: expected false, found true: the model was "
                   "trained without a first token",
                   "none is needed here, as no BOS is ever added; other programs need a file "
                   "converted again");
  } else {
    findings.good("begin of text", "no token is put in front");
  }
}

bool looks_like_control(std::string_view token) {
  return token.size() > 4 && token.substr(0, 2) == "<|" && token.substr(token.size() - 2) == "|>";
}

bool looks_added(std::string_view token) {
  return token.size() > 2 && token.front() == '<' && token.back() == '>';
}

bool is_tag(std::string_view token) {
  return std::find(kTagTokens.begin(), kTagTokens.end(), token) != kTagTokens.end();
}

// Empty: the type fits the token's text.
std::string_view expected_type(std::string_view token, std::int64_t type, Family family) {
  if (looks_like_control(token)) {
    return type == kControl ? "" : "3 (control)";
  }
  if (family == Family::SmolLM3 && is_tag(token)) {
    return type == kUserDefined ? "" : "4 (user-defined)";
  }
  const bool may_be_added = family != Family::SmolLM3 && looks_added(token);
  if (type == kNormalToken || (may_be_added && (type == kControl || type == kUserDefined))) {
    return "";
  }
  return family == Family::Other ? "" : "1 (normal)";
}

void check_types(const gguf::File& file, Family family, const Vocabulary& vocabulary,
                 Findings& findings) {
  constexpr std::size_t kShown = 3;
  const auto types = file.metadata().integers("tokenizer.ggml.token_type");
  const std::size_t n_types = types ? types->size() : 0;
  if (n_types != vocabulary.tokens().size()) {
    findings.fault("token types",
                   fmt::format("tokenizer.ggml.token_type: expected {} types, found {}",
                               vocabulary.tokens().size(), n_types),
                   std::string(kConvertOrGiveTokenizer));
    return;
  }
  std::size_t n_wrong = 0;
  for (std::size_t id = 0; id < n_types; ++id) {
    const std::string_view expected = expected_type(vocabulary.tokens()[id], (*types)[id], family);
    if (!expected.empty() && ++n_wrong <= kShown) {
      findings.fault("token types",
                     fmt::format("token {}: expected type {}, found {}", vocabulary.name(id),
                                 expected, (*types)[id]),
                     std::string(kConvertOrGiveTokenizer));
    }
  }
  if (n_wrong > kShown) {
    findings.fault("token types", fmt::format("{} more tokens of a wrong type", n_wrong - kShown),
                   std::string(kConvertOrGiveTokenizer));
  }
  if (n_wrong == 0) {
    findings.good("token types", fmt::format("{} tokens of the right type", n_types));
  }
}

// GPT-2's character for each byte: printable Latin-1 stands for itself, the rest follow from
// U+0100.
std::vector<std::string> byte_characters() {
  std::vector<std::string> characters;
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool itself = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) ||
                        (byte >= 0xAE && byte <= 0xFF);
    std::string text;
    utf8::append(text, itself ? byte : next++);
    characters.push_back(std::move(text));
  }
  return characters;
}

void check_bytes(Family family, const Vocabulary& vocabulary, Findings& findings) {
  std::size_t n_missing = 0;
  for (const std::string& character : byte_characters()) {
    n_missing += vocabulary.find(character) ? 0 : 1;
  }
  const std::string message = fmt::format("{} of 256 bytes have no token", n_missing);
  if (n_missing == 0) {
    findings.good("bytes", "every byte has a token");
  } else if (family == Family::SmolLM3 || family == Family::Llama3) {
    findings.fault("bytes", message + ": some text is lost", std::string(kConvertOrGiveTokenizer));
  } else {
    findings.note("bytes", message + ": they are dropped from text, as in training");
  }
}

void check_distinct(const Vocabulary& vocabulary, Findings& findings) {
  const std::size_t n_tokens = vocabulary.tokens().size();
  if (vocabulary.n_distinct() == n_tokens) {
    findings.good("vocabulary", fmt::format("{} different tokens", n_tokens));
  } else {
    findings.fault("vocabulary",
                   fmt::format("tokenizer.ggml.tokens: expected {} different tokens, found {}",
                               n_tokens, vocabulary.n_distinct()),
                   std::string(kConvertOrGiveTokenizer));
  }
}

}  // namespace

Family family_of(const gguf::File& file) {
  const auto tokens = file.metadata().strings("tokenizer.ggml.tokens");
  const auto has = [&](std::string_view text) {
    return tokens && std::find(tokens->begin(), tokens->end(), text) != tokens->end();
  };
  const std::string_view architecture = file.metadata().string("general.architecture").value_or("");
  if (architecture == "smollm3" || (has("<|im_start|>") && has("<tool_call>") && has("<code>"))) {
    return Family::SmolLM3;
  }
  if (has("<repo_name>") && has("<empty_output>")) {
    return Family::SmolLM2;
  }
  return has("<|start_header_id|>") ? Family::Llama3 : Family::Other;
}

void check_vocabulary(const gguf::File& file, Findings& findings) {
  const Family family = family_of(file);
  const Vocabulary vocabulary(file.metadata()
                                  .strings("tokenizer.ggml.tokens")
                                  .value_or(std::span<const std::string_view>{}));
  check_distinct(vocabulary, findings);
  check_pre(file, family, findings);
  check_end(file, family, vocabulary, findings);
  check_begin(file, family, findings);
  check_types(file, family, vocabulary, findings);
  check_bytes(family, vocabulary, findings);
}

}  // namespace smol::app
