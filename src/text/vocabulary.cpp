#include "text/vocabulary.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "text/byte_chars.h"

namespace smol::text {
namespace {

constexpr std::size_t kMaxGap = 16;     // ids for each token that a file lists
constexpr std::size_t kFreeIds = 4096;  // and for a file that lists few
constexpr std::uint64_t kHashed = 0xFFULL << 56U;
constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15ULL;

std::uint64_t load(const char* bytes, std::size_t count) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, count);
  return word;
}

BytesKey hashed(std::string_view bytes) noexcept {
  std::uint64_t a = bytes.size();
  std::uint64_t b = kMultiplier;
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::uint64_t word = load(bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
    a = std::rotl((a ^ word) * kMultiplier, 29);
    b = (std::rotl(b, 31) + word) * 0xC2B2AE3D27D4EB4FULL;
  }
  return {a, (b & ~kHashed) | kHashed};
}

}  // namespace

BytesKey BytesKey::of(std::string_view bytes) noexcept {
  if (bytes.size() > kInline) {
    return hashed(bytes);
  }
  const std::size_t first = std::min<std::size_t>(8, bytes.size());
  return {load(bytes.data(), first), load(bytes.data() + first, bytes.size() - first) |
                                         static_cast<std::uint64_t>(bytes.size()) << 56U};
}

BytesKey BytesKey::of_readable16(std::string_view bytes) noexcept {
  const std::size_t size = bytes.size();
  const std::uint64_t low = load(bytes.data(), 8);
  const std::uint64_t high = load(bytes.data() + 8, 8);
  const auto keep = [](std::size_t count) { return (1ULL << (8 * count)) - 1; };  // count < 8
  const std::uint64_t length = static_cast<std::uint64_t>(size) << 56U;
  if (size < 8) {
    return {low & keep(size), length};
  }
  return {low, (high & keep(size - 8)) | length};
}

Vocabulary::Vocabulary(std::size_t n_tokens)
    : max_id_(
          static_cast<TokenId>(std::min<std::size_t>(kMaxTokenId, kMaxGap * n_tokens + kFreeIds))) {
}

Vocabulary::Entry& Vocabulary::place(TokenId id) {
  if (id < 0 || id > max_id_) {
    throw Error(ErrorCode::BadInput,
                "token id " + std::to_string(id) + ": expected 0 to " + std::to_string(max_id_));
  }
  const auto index = static_cast<std::size_t>(id);
  if (index >= entries_.size()) {
    entries_.resize(index + 1);
  }
  if (entries_[index].present) {
    throw Error(ErrorCode::BadInput, "token id " + std::to_string(id) + ": used by two tokens");
  }
  return entries_[index];
}

Vocabulary::Entry& Vocabulary::put(TokenId id, std::string_view spelled) {
  if (spelled.size() > kMaxTokenBytes) {
    throw Error(ErrorCode::BadInput, "token id " + std::to_string(id) + ": expected at most " +
                                         std::to_string(kMaxTokenBytes) + " bytes, found " +
                                         std::to_string(spelled.size()));
  }
  Entry& entry = place(id);
  entry.begin = bytes_.size();
  entry.spellable = append_spelled_bytes(spelled, bytes_);
  if (!entry.spellable) {
    bytes_ += spelled;
  }
  entry.length = static_cast<std::uint32_t>(bytes_.size() - entry.begin);
  entry.present = true;
  return entry;
}

void Vocabulary::add(TokenId id, std::string_view spelled) {
  Entry& entry = put(id, spelled);
  entry.indexed = entry.spellable;
  if (!entry.spellable && !unspellable_.emplace(spelled, id).second) {
    throw Error(ErrorCode::BadInput, "token id " + std::to_string(id) + ": same text as token " +
                                         std::to_string(find_unspellable(spelled)));
  }
}

void Vocabulary::add_unindexed(TokenId id, std::string_view spelled) {
  put(id, spelled);
}

void Vocabulary::index() {
  byte_tokens_.fill(kNoToken);
  const auto count = static_cast<std::size_t>(std::count_if(
      entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.indexed; }));
  slots_.assign(std::bit_ceil(std::max<std::size_t>(16, 2 * count)), Slot{});
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].indexed) {
      continue;
    }
    const auto id = static_cast<TokenId>(i);
    const std::string_view bytes = bytes_of(id);
    const BytesKey key = BytesKey::of(bytes);
    std::size_t at = key.slot(mask);
    for (; slots_[at].id != kNoToken; at = (at + 1) & mask) {
      if (slots_[at].key == key && bytes_of(slots_[at].id) == bytes) {
        throw Error(ErrorCode::BadInput, "token id " + std::to_string(i) + ": same text as token " +
                                             std::to_string(slots_[at].id));
      }
    }
    slots_[at] = {key, id, false};
    longest_ = std::max(longest_, bytes.size());
    if (bytes.size() == 1) {
      byte_tokens_[static_cast<unsigned char>(bytes[0])] = id;
    }
  }
}

bool Vocabulary::has(TokenId id) const noexcept {
  return id >= 0 && static_cast<std::size_t>(id) < entries_.size() &&
         entries_[static_cast<std::size_t>(id)].present;
}

std::string_view Vocabulary::bytes_of(TokenId id) const noexcept {
  if (!has(id)) {
    return {};
  }
  const Entry& entry = entries_[static_cast<std::size_t>(id)];
  return std::string_view(bytes_).substr(entry.begin, entry.length);
}

const Vocabulary::Slot* Vocabulary::lookup(const BytesKey& key,
                                           std::string_view bytes) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = key.slot(mask); slots_[at].id != kNoToken; at = (at + 1) & mask) {
    if (slots_[at].key == key && (key.is_inline() || bytes_of(slots_[at].id) == bytes)) {
      return &slots_[at];
    }
  }
  return nullptr;
}

TokenId Vocabulary::find(std::string_view bytes) const noexcept {
  if (bytes.size() > longest_) {
    return kNoToken;
  }
  const Slot* slot = lookup(BytesKey::of(bytes), bytes);
  return slot == nullptr ? kNoToken : slot->id;
}

TokenId Vocabulary::find_whole(std::string_view bytes, bool readable16) const noexcept {
  if (bytes.size() > longest_) {
    return kNoToken;
  }
  const bool fast = readable16 && bytes.size() <= BytesKey::kInline;
  const Slot* slot = lookup(fast ? BytesKey::of_readable16(bytes) : BytesKey::of(bytes), bytes);
  return slot == nullptr || !slot->whole ? kNoToken : slot->id;
}

TokenId Vocabulary::find_unspellable(std::string_view text) const noexcept {
  const auto found = unspellable_.find(std::string(text));
  return found == unspellable_.end() ? kNoToken : found->second;
}

void Vocabulary::mark_whole(TokenId id) {
  const std::string_view bytes = bytes_of(id);
  const BytesKey key = BytesKey::of(bytes);
  if (const Slot* slot = lookup(key, bytes); slot != nullptr) {
    slots_[static_cast<std::size_t>(slot - slots_.data())].whole = true;
  }
}

}  // namespace smol::text
