#include "text/tokenizer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"
#include "text/loaders.h"
#include "text/tokenizer_parts.h"

namespace smol::text {
namespace {

constexpr std::array<std::string_view, 4> kTurnEnds{"<|im_end|>", "<|end_of_text|>",
                                                    "<|endoftext|>", "<|eot_id|>"};

// English needs a quarter of an id per byte, or fewer.
constexpr std::size_t kBytesPerId = 4;

// Requires: valid UTF-8.
std::vector<TokenId> encode_valid(const TokenizerParts& parts, std::string_view text,
                                  std::span<const AddedTokenSet::Range> allowed, AddedTokens mode) {
  std::vector<TokenId> ids;
  ids.reserve(text.size() / kBytesPerId + 1);
  append_split(parts, text, parts.added.split(text, allowed, mode, {}, false), false, ids);
  return ids;
}

struct JoinedParts {
  std::string text;
  std::vector<AddedTokenSet::Range> allowed;
};

JoinedParts join(std::span<const PromptPart> parts, bool repair) {
  JoinedParts joined;
  for (const PromptPart& part : parts) {
    const std::size_t begin = joined.text.size();
    joined.text += repair ? utf8::to_valid(part.text) : std::string(part.text);
    const std::size_t end = joined.text.size();
    if (!part.may_hold_added_tokens || begin == end) {
      continue;
    }
    if (!joined.allowed.empty() && joined.allowed.back().end == begin) {
      joined.allowed.back().end = end;
    } else {
      joined.allowed.push_back({begin, end});
    }
  }
  return joined;
}

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::from_gguf(const gguf::File& file) {
  return Tokenizer(std::make_unique<const Impl>(load_gguf(file)));
}

Tokenizer Tokenizer::from_json(const std::filesystem::path& tokenizer_json) {
  return Tokenizer(std::make_unique<const Impl>(load_json_with_companions(tokenizer_json)));
}

Tokenizer Tokenizer::parse_json(std::string_view tokenizer_json, std::string_view name) {
  return Tokenizer(std::make_unique<const Impl>(load_json(tokenizer_json, name)));
}

Tokenizer Tokenizer::open(const std::filesystem::path& path) {
  return is_gguf(path) ? from_gguf(gguf::File::open(path)) : from_json(path);
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, AddedTokens mode) const {
  if (!utf8::is_valid(text)) {
    return encode(utf8::to_valid(text), mode);
  }
  const AddedTokenSet::Range whole{0, text.size()};
  return encode_valid(impl_->parts, text, {&whole, 1}, mode);
}

std::vector<TokenId> Tokenizer::encode(std::span<const PromptPart> parts) const {
  JoinedParts joined = join(parts, false);
  if (!utf8::is_valid(joined.text)) {
    joined = join(parts, true);
  }
  return encode_valid(impl_->parts, joined.text, joined.allowed, AddedTokens::All);
}

PaddedBatch Tokenizer::encode_batch(std::span<const std::string> texts, PaddingSide side,
                                    AddedTokens mode) const {
  std::vector<std::vector<TokenId>> rows;
  PaddedBatch batch;
  for (const std::string& text : texts) {
    rows.push_back(encode(text, mode));
    batch.n_cols = std::max(batch.n_cols, rows.back().size());
  }
  batch.n_rows = rows.size();
  batch.ids.assign(batch.n_rows * batch.n_cols, pad().value_or(eos().value_or(0)));
  batch.mask.assign(batch.n_rows * batch.n_cols, 0);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t padding = batch.n_cols - rows[row].size();
    const auto first =
        static_cast<std::ptrdiff_t>(row * batch.n_cols + (side == PaddingSide::Left ? padding : 0));
    std::copy(rows[row].begin(), rows[row].end(), batch.ids.begin() + first);
    std::fill_n(batch.mask.begin() + first, rows[row].size(), std::uint8_t{1});
  }
  return batch;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool skip_special) const {
  std::string bytes;
  for (const TokenId id : ids) {
    if (!skip_special || !is_special(id)) {
      bytes += bytes_of(id);
    }
  }
  return utf8::is_valid(bytes) ? bytes : utf8::to_valid(bytes);
}

std::vector<std::string> Tokenizer::pieces(std::string_view text) const {
  const std::string valid = utf8::to_valid(text);
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < valid.size();) {
    const std::size_t end = next_piece(impl_->parts.pre_tokenizer, valid, at, valid.size()).end;
    pieces.push_back(valid.substr(at, end - at));
    at = end;
  }
  return pieces;
}

std::string_view Tokenizer::bytes_of(TokenId id) const noexcept {
  return impl_->parts.vocabulary.bytes_of(id);
}

std::size_t Tokenizer::vocab_size() const noexcept {
  return impl_->parts.vocabulary.size();
}

bool Tokenizer::is_added(TokenId id) const noexcept {
  return impl_->parts.added.find(id) != nullptr;
}

bool Tokenizer::is_special(TokenId id) const noexcept {
  const AddedToken* token = impl_->parts.added.find(id);
  return token != nullptr && token->special;
}

bool Tokenizer::ends_turn(TokenId id) const noexcept {
  const AddedToken* token = impl_->parts.added.find(id);
  return id == eos() || (token != nullptr && std::find(kTurnEnds.begin(), kTurnEnds.end(),
                                                       token->content) != kTurnEnds.end());
}

std::optional<TokenId> Tokenizer::find(std::string_view content) const noexcept {
  if (const AddedToken* token = impl_->parts.added.find(content)) {
    return token->id;
  }
  const Vocabulary& vocabulary = impl_->parts.vocabulary;
  TokenId id = vocabulary.find(content);
  if (id == kNoToken) {
    id = vocabulary.find_unspellable(content);
  }
  return id == kNoToken ? std::nullopt : std::optional(id);
}

std::optional<TokenId> Tokenizer::bos() const noexcept {
  return impl_->parts.bos;
}

std::optional<TokenId> Tokenizer::eos() const noexcept {
  return impl_->parts.eos;
}

std::optional<TokenId> Tokenizer::pad() const noexcept {
  return impl_->parts.pad;
}

}  // namespace smol::text
