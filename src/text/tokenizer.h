// Byte-level BPE (Sennrich 2016, arXiv:1508.07909) with the ids of Hugging Face's tokenizers.
// Immutable: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "gguf/file.h"

namespace smol::text {

// Which added tokens are found in a text.
enum class AddedTokens {
  None,
  OnlyNonSpecial,  // transformers' split_special_tokens: `<think>` is found, `<|im_end|>` is not
  All
};

// A stretch of a prompt. Parts are never encoded one by one: their texts are joined before
// pre-tokenization, as tokens may span a border (".\n\n").
struct PromptPart {
  std::string_view text;
  bool may_hold_added_tokens;  // true only for what a template wrote: input can never become a
                               // special token
};

struct PaddedBatch {
  std::size_t n_rows = 0, n_cols = 0;
  std::vector<TokenId> ids;        // [n_rows, n_cols]
  std::vector<std::uint8_t> mask;  // [n_rows, n_cols] 1: token, 0: padding
};
enum class PaddingSide { Left, Right };

class Tokenizer {
 public:
  // From GGUF metadata. Throws Error{BadInput} naming key, expected and found; Error{Unsupported}
  // for another tokenizer model or pre-tokenizer.
  static Tokenizer from_gguf(const gguf::File& file);
  // From Hugging Face's tokenizer.json; tokenizer_config.json and special_tokens_map.json beside it
  // are read where they exist (bos, eos and pad tokens). Throws Error{BadInput} naming what is
  // broken, Error{Unsupported} for another model or pre-tokenizer.
  static Tokenizer from_json(const std::filesystem::path& tokenizer_json);
  // The same over a document in memory, without companions. `name` stands in messages.
  static Tokenizer parse_json(std::string_view tokenizer_json, std::string_view name);
  // By the file's content: GGUF or tokenizer.json.
  static Tokenizer open(const std::filesystem::path& path);

  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Invalid UTF-8 is read as U+FFFD per maximal invalid subpart. No BOS is added.
  std::vector<TokenId> encode(std::string_view text, AddedTokens mode = AddedTokens::All) const;
  // An added token is found only where it lies wholly inside consecutive parts that may hold them.
  std::vector<TokenId> encode(std::span<const PromptPart> parts) const;
  // Padded with pad(), or eos() without one, or 0.
  PaddedBatch encode_batch(std::span<const std::string> texts, PaddingSide side,
                           AddedTokens mode = AddedTokens::All) const;

  // Bytes of all ids joined, then U+FFFD per maximal invalid subpart. Unknown ids are skipped.
  std::string decode(std::span<const TokenId> ids, bool skip_special) const;
  // The pieces inside which tokens are merged, for a text without added tokens. They join to `text`
  // (to its valid form where it is invalid UTF-8).
  std::vector<std::string> pieces(std::string_view text) const;
  // May begin or end inside a UTF-8 sequence; empty for an unknown id.
  std::string_view bytes_of(TokenId id) const noexcept;

  std::size_t vocab_size() const noexcept;  // largest id + 1
  bool is_added(TokenId id) const noexcept;
  bool is_special(TokenId id) const noexcept;  // `special: true`; `<think>` is not
  bool ends_turn(
      TokenId id) const noexcept;  // eos, <|im_end|>, <|end_of_text|>, <|endoftext|>, <|eot_id|>
  // The id of exactly this added token, or else of the vocabulary entry that stands for these
  // bytes.
  std::optional<TokenId> find(std::string_view content) const noexcept;
  std::optional<TokenId> bos() const noexcept;  // never added by encode()
  std::optional<TokenId> eos() const noexcept;
  std::optional<TokenId> pad() const noexcept;

 private:
  friend class StreamEncoder;
  struct Impl;
  explicit Tokenizer(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace smol::text
