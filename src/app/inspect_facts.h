// What `smolbot inspect` reports, gathered from a file: counts and sums, no layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/file.h"

namespace smol::app {

struct TypeTotal {
  std::string_view name;  // "Q4_K"
  std::size_t n_tensors = 0;
  std::uint64_t n_elements = 0;
  std::uint64_t n_bytes = 0;
};

struct TemplateFacts {
  std::string_view text;
  std::string sha256;
  std::string variant;  // the known template that it equals, or which one it comes closest to
};

struct SpecialToken {
  std::string_view role;  // "bos", "eos", "padding", ...
  std::uint64_t id = 0;
  std::optional<std::string_view> text;  // none: the id is outside the vocabulary
};

struct TokenizerFacts {
  std::string_view model, pre;  // "gpt2", "smaug-bpe"; empty where the file does not say
  std::size_t n_tokens = 0;
  std::size_t n_merges = 0;
  std::map<std::string, std::size_t> tokens_by_type;  // "normal", "control", ...
  std::vector<SpecialToken> special;
};

struct InspectFacts {
  std::vector<TypeTotal> types;  // by falling bytes
  std::uint64_t n_elements = 0;
  std::uint64_t n_tensor_bytes = 0;
  std::optional<TemplateFacts> chat_template;
  std::optional<TokenizerFacts> tokenizer;
};

// Values of a wrong type are left out: inspect shows also files that no model can be made of. The
// file must outlive the facts.
InspectFacts gather_facts(const gguf::File& file);

}  // namespace smol::app
