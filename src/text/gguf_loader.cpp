#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/mapped_file.h"
#include "gguf/printable.h"
#include "text/loaders.h"
#include "text/merge_loader.h"

namespace smol::text {
namespace {

constexpr std::string_view kModelKey = "tokenizer.ggml.model";
constexpr std::string_view kPreKey = "tokenizer.ggml.pre";
constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view kTypesKey = "tokenizer.ggml.token_type";
constexpr std::string_view kMergesKey = "tokenizer.ggml.merges";

// llama.cpp's token types.
enum class TokenType : std::uint8_t {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4,
  Unused = 5,
  Byte = 6
};

struct KnownPre {
  std::string_view name;
  PreTokenizer kind;
  bool ignore_merges;
};

// smaug-bpe is what converters write for a Llama 3 tokenizer without BOS, SmolLM3's among them: the
// original has ignore_merges, so it is on here (some 588 words depend on it).
constexpr std::array kKnownPres{
    KnownPre{"llama-bpe", PreTokenizer::Llama3, true},
    KnownPre{"llama3", PreTokenizer::Llama3, true},
    KnownPre{"llama-v3", PreTokenizer::Llama3, true},
    KnownPre{"smaug-bpe", PreTokenizer::Llama3, true},
    KnownPre{"smollm", PreTokenizer::DigitsGpt2, false},
    KnownPre{"gpt-2", PreTokenizer::Gpt2, false},
};

[[noreturn]] void fail(std::string_view key, const std::string& what,
                       ErrorCode code = ErrorCode::BadInput) {
  throw Error(code, std::string(key) + ": " + what);
}

template <typename T>
T required(const std::optional<T>& value, std::string_view key) {
  if (!value) {
    fail(key, "missing");
  }
  return *value;
}

KnownPre known_pre(const gguf::Metadata& metadata) {
  const std::string_view name = required(metadata.string(kPreKey), kPreKey);
  std::string known;
  for (const KnownPre& pre : kKnownPres) {
    if (pre.name == name) {
      return pre;
    }
    known += (known.empty() ? "" : ", ") + std::string(pre.name);
  }
  fail(kPreKey, "expected one of " + known + ", found \"" + gguf::printable(name) + "\"",
       ErrorCode::Unsupported);
}

std::vector<TokenType> token_types(const gguf::Metadata& metadata, std::size_t n_tokens) {
  const auto values = required(metadata.integers(kTypesKey), kTypesKey);
  if (values.size() != n_tokens) {
    fail(kTypesKey, "expected " + std::to_string(n_tokens) + " types, one a token, found " +
                        std::to_string(values.size()));
  }
  std::vector<TokenType> types;
  types.reserve(values.size());
  for (const std::int64_t value : values) {
    if (value < static_cast<int>(TokenType::Normal) || value > static_cast<int>(TokenType::Byte)) {
      fail(kTypesKey, "token " + std::to_string(types.size()) + ": expected 1 to 6, found " +
                          std::to_string(value));
    }
    types.push_back(static_cast<TokenType>(value));
  }
  return types;
}

// Ids whose text is a piece of ordinary text.
std::vector<TokenId> fill_vocabulary(TokenizerParts& parts,
                                     std::span<const std::string_view> tokens,
                                     const std::vector<TokenType>& types) {
  std::vector<AddedToken> added;
  std::vector<TokenId> ordinary;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    parts.vocabulary.add(id, tokens[i]);
    const bool special = types[i] == TokenType::Control || types[i] == TokenType::Unknown;
    if (special || types[i] == TokenType::UserDefined) {
      added.push_back({.content = std::string(tokens[i]), .id = id, .special = special});
    } else {
      ordinary.push_back(id);
    }
  }
  parts.vocabulary.index();
  parts.added = AddedTokenSet(std::move(added));
  return ordinary;
}

std::optional<TokenId> token_id(const gguf::Metadata& metadata, std::string_view key,
                                std::size_t n_tokens) {
  const auto id = metadata.unsigned_integer(key);
  if (!id) {
    return std::nullopt;
  }
  if (*id >= n_tokens) {
    fail(key,
         "expected an id below " + std::to_string(n_tokens) + ", found " + std::to_string(*id));
  }
  return static_cast<TokenId>(*id);
}

TokenizerParts load(const gguf::Metadata& metadata) {
  if (const auto model = required(metadata.string(kModelKey), kModelKey); model != "gpt2") {
    fail(kModelKey, "expected gpt2 (byte-level BPE), found \"" + gguf::printable(model) + "\"",
         ErrorCode::Unsupported);
  }
  const KnownPre pre = known_pre(metadata);
  const auto tokens = required(metadata.strings(kTokensKey), kTokensKey);
  if (tokens.empty() || tokens.size() > static_cast<std::size_t>(kMaxTokenId)) {
    fail(kTokensKey, "expected 1 to " + std::to_string(kMaxTokenId) + " tokens, found " +
                         std::to_string(tokens.size()));
  }
  const auto merges = required(metadata.strings(kMergesKey), kMergesKey);
  TokenizerParts parts;
  parts.pre_tokenizer = pre.kind;
  parts.ignore_merges = pre.ignore_merges;
  parts.vocabulary = Vocabulary(tokens.size());
  const auto ordinary = fill_vocabulary(parts, tokens, token_types(metadata, tokens.size()));
  MergeLoader loader(parts.vocabulary, merges.size());
  for (const std::string_view merge : merges) {
    loader.add(merge);
  }
  parts.merges = loader.take();
  mark_whole_pieces(parts, ordinary);
  parts.bos = token_id(metadata, "tokenizer.ggml.bos_token_id", tokens.size());
  parts.eos = token_id(metadata, "tokenizer.ggml.eos_token_id", tokens.size());
  parts.pad = token_id(metadata, "tokenizer.ggml.padding_token_id", tokens.size());
  return parts;
}

}  // namespace

TokenizerParts load_gguf(const gguf::File& file) {
  try {
    return load(file.metadata());
  } catch (const Error& error) {
    const std::string name(file.name());
    const std::string_view message = error.what();
    // The metadata's own errors name the file already.
    if (message.substr(0, name.size()) == name) {
      throw;
    }
    throw Error(error.code(), name + ": " + error.what());
  }
}

bool is_gguf(const std::filesystem::path& path) {
  constexpr std::string_view kMagic = "GGUF";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw Error(ErrorCode::NotFound, path.string() + ": no such file");
  }
  const MappedFile file(path);
  const auto start = file.bytes().first(std::min(file.bytes().size(), kMagic.size()));
  return std::ranges::equal(start, std::as_bytes(std::span(kMagic)));
}

}  // namespace smol::text
