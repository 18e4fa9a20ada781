#include "app/inspect_facts.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "app/known_templates.h"
#include "app/sha256.h"
#include "base/error.h"

namespace smol::app {
namespace {

using gguf::Metadata;
using gguf::TensorView;

// The value, or nullopt where it is missing or of another type.
template <typename Access>
auto lenient(Access access) -> decltype(access()) {
  try {
    return access();
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string token_type_name(std::int64_t id) {
  constexpr std::array<std::string_view, 6> kNames{"normal",       "unknown", "control",
                                                   "user-defined", "unused",  "byte"};
  const bool known = id >= 1 && id <= static_cast<std::int64_t>(kNames.size());
  return known ? std::string(kNames[static_cast<std::size_t>(id - 1)])
               : "type " + std::to_string(id);
}

std::vector<TypeTotal> totals_by_type(std::span<const TensorView> tensors) {
  std::map<std::string_view, TypeTotal> totals;
  for (const TensorView& tensor : tensors) {
    TypeTotal& total = totals[gguf::traits(tensor.dtype).name];
    total.name = gguf::traits(tensor.dtype).name;
    ++total.n_tensors;
    total.n_elements += tensor.n_rows() * tensor.n_cols();
    total.n_bytes += tensor.bytes.size();
  }
  std::vector<TypeTotal> sorted;
  sorted.reserve(totals.size());
  for (const auto& [name, total] : totals) {
    sorted.push_back(total);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const TypeTotal& a, const TypeTotal& b) { return a.n_bytes > b.n_bytes; });
  return sorted;
}

std::optional<TemplateFacts> template_facts(const Metadata& metadata) {
  const auto text = lenient([&] { return metadata.string("tokenizer.chat_template"); });
  if (!text) {
    return std::nullopt;
  }
  const TemplateMatch match = match_template(*text);
  TemplateFacts facts{*text, sha256_hex(*text), {}};
  facts.variant = match.exact != nullptr
                      ? std::string(match.exact->name)
                      : "other (" + std::to_string(match.difference.size()) +
                            " lines differ from: " + std::string(match.closest->name) + ")";
  return facts;
}

std::vector<SpecialToken> special_tokens(const Metadata& metadata,
                                         std::span<const std::string_view> tokens) {
  constexpr std::array<std::string_view, 6> kRoles{"bos",     "eos",     "eot",
                                                   "unknown", "padding", "seperator"};
  std::vector<SpecialToken> special;
  for (const std::string_view role : kRoles) {
    const std::string key = "tokenizer.ggml." + std::string(role) + "_token_id";
    const auto id = lenient([&] { return metadata.unsigned_integer(key); });
    if (id) {
      SpecialToken token{role, *id, std::nullopt};
      if (*id < tokens.size()) {
        token.text = tokens[*id];
      }
      special.push_back(token);
    }
  }
  return special;
}

std::optional<TokenizerFacts> tokenizer_facts(const Metadata& metadata) {
  const auto model = lenient([&] { return metadata.string("tokenizer.ggml.model"); });
  const auto tokens = lenient([&] { return metadata.strings("tokenizer.ggml.tokens"); });
  if (!model && !tokens) {
    return std::nullopt;
  }
  TokenizerFacts facts;
  facts.model = model.value_or("");
  facts.pre = lenient([&] { return metadata.string("tokenizer.ggml.pre"); }).value_or("");
  const std::span<const std::string_view> all =
      tokens.value_or(std::span<const std::string_view>{});
  facts.n_tokens = all.size();
  const auto merges = lenient([&] { return metadata.strings("tokenizer.ggml.merges"); });
  facts.n_merges = merges ? merges->size() : 0;
  const auto types = lenient([&] { return metadata.integers("tokenizer.ggml.token_type"); });
  for (const std::int64_t type : types.value_or(std::vector<std::int64_t>{})) {
    ++facts.tokens_by_type[token_type_name(type)];
  }
  facts.special = special_tokens(metadata, all);
  return facts;
}

}  // namespace

InspectFacts gather_facts(const gguf::File& file) {
  InspectFacts facts;
  facts.types = totals_by_type(file.tensors());
  for (const TypeTotal& total : facts.types) {
    facts.n_elements += total.n_elements;
    facts.n_tensor_bytes += total.n_bytes;
  }
  facts.chat_template = template_facts(file.metadata());
  facts.tokenizer = tokenizer_facts(file.metadata());
  return facts;
}

}  // namespace smol::app
