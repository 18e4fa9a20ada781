#include <array>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/mapped_file.h"
#include "text/json_document.h"
#include "text/json_fields.h"
#include "text/json_pretokenizer.h"
#include "text/loaders.h"
#include "text/merge_loader.h"

namespace smol::text {
namespace {

std::string_view text_of(const MappedFile& file) {
  const auto bytes = file.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A step of the tokenizer that must be absent, for the ids would differ.
void refuse(const JsonFields& object, std::string_view key) {
  if (const Json* value = object.find(key)) {
    throw Error(ErrorCode::Unsupported, object.name_of(key) + ": expected null, found " +
                                            value->dump(-1, ' ', true).substr(0, 100));
  }
}

void check_type(const JsonFields& object, std::string_view key, std::string_view expected) {
  const std::string found = object.required_string(key);
  if (found != expected) {
    throw Error(ErrorCode::Unsupported, object.name_of(key) + ": expected " +
                                            std::string(expected) + ", found " +
                                            Json(found).dump(-1, ' ', true));
  }
}

void check_model(const JsonFields& model) {
  check_type(model, "type", "BPE");
  for (const std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model.string(key).value_or("").empty()) {
      refuse(model, key);
    }
  }
  if (model.boolean("byte_fallback", false)) {
    refuse(model, "byte_fallback");
  }
  if (const Json* dropout = model.find("dropout"); dropout != nullptr && *dropout != 0.0) {
    refuse(model, "dropout");
  }
}

// Without an unknown token, bytes that have no token are dropped; with one, they would become it.
void check_unknown_token(const JsonFields& model, const Vocabulary& vocabulary) {
  if (model.find("unk_token") == nullptr) {
    return;
  }
  for (int byte = 0; byte < 256; ++byte) {
    if (vocabulary.byte_token(static_cast<unsigned char>(byte)) == kNoToken) {
      refuse(model, "unk_token");
    }
  }
}

AddedToken read_added_token(const JsonFields& token) {
  const std::uint64_t id = token.required_unsigned("id");
  if (id > static_cast<std::uint64_t>(kMaxTokenId)) {
    token.fail("id", "an id up to " + std::to_string(kMaxTokenId));
  }
  return {.content = token.required_string("content"),
          .id = static_cast<TokenId>(id),
          .special = token.boolean("special", false),
          .lstrip = token.boolean("lstrip", false),
          .rstrip = token.boolean("rstrip", false),
          .single_word = token.boolean("single_word", false),
          .normalized = token.boolean("normalized", true)};
}

// Its place in the model's vocabulary: there with the same text, or not there at all.
void place_added_token(Vocabulary& vocabulary, const AddedToken& token, const std::string& name) {
  Vocabulary alone;
  alone.add_unindexed(0, token.content);
  const std::string_view bytes = alone.bytes_of(0);
  if (vocabulary.has(token.id)) {
    if (vocabulary.bytes_of(token.id) != bytes) {
      throw Error(ErrorCode::BadInput,
                  name + ": id " + std::to_string(token.id) + " is another token of model.vocab");
    }
    return;
  }
  vocabulary.add_unindexed(token.id, token.content);
}

void read_added_tokens(TokenizerParts& parts, const JsonFields& root) {
  const Json* list = root.find("added_tokens");
  if (list == nullptr) {
    return;
  }
  if (!list->is_array()) {
    root.fail("added_tokens", "an array");
  }
  std::vector<AddedToken> tokens;
  for (const Json& entry : *list) {
    const std::string name = "added_tokens[" + std::to_string(tokens.size()) + "]";
    tokens.push_back(read_added_token(JsonFields(entry, name)));
    place_added_token(parts.vocabulary, tokens.back(), name);
  }
  parts.added = AddedTokenSet(std::move(tokens));
}

// All ids of the model's vocabulary.
std::vector<TokenId> read_vocabulary(TokenizerParts& parts, const JsonDocument& document) {
  if (!document.has_vocab || document.vocab.empty()) {
    throw Error(ErrorCode::BadInput, "model.vocab: expected an object with tokens, found none");
  }
  std::vector<TokenId> ids;
  for (const JsonDocument::Entry& entry : document.vocab) {
    parts.vocabulary.add(entry.id, document.view(entry.text));
    ids.push_back(entry.id);
  }
  parts.vocabulary.index();
  return ids;
}

void read_merges(TokenizerParts& parts, const JsonDocument& document) {
  if (!document.has_merges) {
    throw Error(ErrorCode::BadInput, "model.merges: expected an array, found none");
  }
  MergeLoader loader(parts.vocabulary, document.merges.size());
  for (const JsonDocument::Merge& merge : document.merges) {
    if (merge.right.length == 0) {
      loader.add(document.view(merge.left));
    } else {
      loader.add(document.view(merge.left), document.view(merge.right));
    }
  }
  parts.merges = loader.take();
}

TokenizerParts load(std::string_view text) {
  const JsonDocument document = read_json_document(text);
  const JsonFields root(document.tree, "tokenizer.json");
  const Json* model_value = root.find("model");
  const Json* pre_tokenizer = root.find("pre_tokenizer");
  const Json* decoder = root.find("decoder");
  if (model_value == nullptr) {
    root.fail("model", "an object");
  }
  const JsonFields model(*model_value, "model");
  check_model(model);
  refuse(root, "normalizer");
  if (pre_tokenizer == nullptr) {
    root.fail("pre_tokenizer", "an object");
  }
  if (decoder != nullptr) {
    check_type(JsonFields(*decoder, "decoder"), "type", "ByteLevel");
  }
  TokenizerParts parts;
  parts.pre_tokenizer = recognize_pre_tokenizer(*pre_tokenizer);
  const Json* added = root.find("added_tokens");
  parts.vocabulary = Vocabulary(document.vocab.size() +
                                (added != nullptr && added->is_array() ? added->size() : 0));
  parts.ignore_merges = model.boolean("ignore_merges", false);
  const std::vector<TokenId> ids = read_vocabulary(parts, document);
  check_unknown_token(model, parts.vocabulary);
  read_merges(parts, document);
  mark_whole_pieces(parts, ids);
  read_added_tokens(parts, root);
  return parts;
}

// "tokenizer_config.json" of a folder, "smollm3_tokenizer_config.json" beside
// "smollm3_tokenizer.json".
std::filesystem::path companion(const std::filesystem::path& tokenizer_json,
                                std::string_view name) {
  constexpr std::string_view kName = "tokenizer.json";
  std::string file = tokenizer_json.filename().string();
  const bool named_so = file.size() >= kName.size() &&
                        file.compare(file.size() - kName.size(), kName.size(), kName) == 0;
  file.resize(named_so ? file.size() - kName.size() : 0);
  return tokenizer_json.parent_path() / (file + std::string(name));
}

using SpecialToken = std::pair<std::string_view, std::optional<TokenId> TokenizerParts::*>;
constexpr std::array kSpecialTokens{SpecialToken{"bos_token", &TokenizerParts::bos},
                                    SpecialToken{"eos_token", &TokenizerParts::eos},
                                    SpecialToken{"pad_token", &TokenizerParts::pad}};

TokenId special_token_id(const TokenizerParts& parts, const JsonFields& fields,
                         std::string_view key, const Json& value) {
  const std::string content =
      value.is_object() ? JsonFields(value, fields.name_of(key)).required_string("content")
                        : fields.required_string(key);
  if (const AddedToken* token = parts.added.find(content)) {
    return token->id;
  }
  const TokenId id = parts.vocabulary.find(content);
  if (id == kNoToken) {
    fields.fail(key, "a token of the vocabulary");
  }
  return id;
}

// A null there counts as "none" and is not overwritten by a later companion: `known` remembers the
// keys.
void read_companion(TokenizerParts& parts, const std::filesystem::path& path,
                    std::array<bool, kSpecialTokens.size()>& known) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return;
  }
  const MappedFile file(path);
  const Json tree = parse_json(text_of(file), path.string());
  const JsonFields fields(tree, path.string());
  for (std::size_t i = 0; i < kSpecialTokens.size(); ++i) {
    const auto& [key, member] = kSpecialTokens[i];
    if (known[i] || !tree.contains(key)) {
      continue;
    }
    known[i] = true;
    if (const Json* value = fields.find(key)) {
      parts.*member = special_token_id(parts, fields, key, *value);
    }
  }
}

}  // namespace

TokenizerParts load_json(std::string_view tokenizer_json, std::string_view name) {
  try {
    return load(tokenizer_json);
  } catch (const Error& error) {
    throw Error(error.code(), std::string(name) + ": " + error.what());
  }
}

TokenizerParts load_json_with_companions(const std::filesystem::path& tokenizer_json) {
  const MappedFile file(tokenizer_json);
  TokenizerParts parts = load_json(text_of(file), tokenizer_json.string());
  std::array<bool, kSpecialTokens.size()> known{};
  for (const std::string_view name : {"tokenizer_config.json", "special_tokens_map.json"}) {
    read_companion(parts, companion(tokenizer_json, name), known);
  }
  return parts;
}

}  // namespace smol::text
