#include "app/inspect_json.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <variant>

#include "base/json.h"
#include "base/utf8.h"

namespace smol::app {
namespace {

constexpr std::size_t kListedElements = 8;

Json to_json(std::string_view text) {
  return utf8::to_valid(text);
}

template <typename T>
Json to_json(T value) {
  return value;
}

Json array_json(const gguf::MetadataValue& value, const gguf::Array& array) {
  return std::visit(
      [&](const auto& elements) {
        Json first = Json::array();
        for (std::size_t i = 0; i < std::min(elements.size(), kListedElements); ++i) {
          using Element = typename std::decay_t<decltype(elements)>::value_type;
          first.push_back(to_json(static_cast<Element>(elements[i])));
        }
        return Json{{"type", gguf::type_name(value)},
                    {"length", elements.size()},
                    {"first", std::move(first)}};
      },
      array);
}

Json value_json(const gguf::MetadataValue& value) {
  return std::visit(
      [&](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, gguf::Array>) {
          return array_json(value, held);
        } else {
          return to_json(held);
        }
      },
      value);
}

Json metadata_json(const gguf::File& file) {
  Json metadata = Json::object();
  // Appended to the container behind it: Json's own insertion searches all keys each time.
  auto& pairs = metadata.get_ref<Json::object_t&>();
  for (const auto& [key, value] : file.metadata().entries()) {
    pairs.emplace_back(utf8::to_valid(key), value_json(value));
  }
  return metadata;
}

Json tensors_json(const gguf::File& file) {
  Json tensors = Json::array();
  for (const gguf::TensorView& tensor : file.tensors()) {
    tensors.push_back({{"name", utf8::to_valid(tensor.name)},
                       {"type", gguf::traits(tensor.dtype).name},
                       {"shape", tensor.shape},
                       {"bytes", tensor.bytes.size()}});
  }
  return tensors;
}

Json types_json(const InspectFacts& facts) {
  Json types = Json::array();
  for (const TypeTotal& total : facts.types) {
    types.push_back({{"type", total.name},
                     {"tensors", total.n_tensors},
                     {"elements", total.n_elements},
                     {"bytes", total.n_bytes}});
  }
  return types;
}

Json template_json(const TemplateFacts& facts) {
  return {{"bytes", facts.text.size()}, {"sha256", facts.sha256}, {"variant", facts.variant}};
}

Json tokenizer_json(const TokenizerFacts& facts) {
  Json by_type = Json::object();
  for (const auto& [name, count] : facts.tokens_by_type) {
    by_type[name] = count;
  }
  Json special = Json::object();
  for (const SpecialToken& token : facts.special) {
    const Json text = token.text ? Json(utf8::to_valid(*token.text)) : Json(nullptr);
    special[std::string(token.role)] = {{"id", token.id}, {"text", text}};
  }
  return {{"model", utf8::to_valid(facts.model)},
          {"pre", utf8::to_valid(facts.pre)},
          {"tokens", facts.n_tokens},
          {"merges", facts.n_merges},
          {"types", std::move(by_type)},
          {"special", std::move(special)}};
}

}  // namespace

Json inspect_json(const gguf::File& file, const InspectFacts& facts) {
  return {{"file", utf8::to_valid(file.name())},
          {"version", file.version()},
          {"bytes", file.size_bytes()},
          {"alignment", file.alignment()},
          {"metadata", metadata_json(file)},
          {"types", types_json(facts)},
          {"elements", facts.n_elements},
          {"tensor_bytes", facts.n_tensor_bytes},
          {"tensors", tensors_json(file)},
          {"template", facts.chat_template ? template_json(*facts.chat_template) : Json(nullptr)},
          {"tokenizer", facts.tokenizer ? tokenizer_json(*facts.tokenizer) : Json(nullptr)}};
}

}  // namespace smol::app
