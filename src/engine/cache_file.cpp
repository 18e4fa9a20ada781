#include "engine/cache_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <string_view>

#include "base/error.h"

namespace smol::engine {
namespace {

constexpr std::uint64_t kMagic = 0x31564B4C4F4D53U;  // "SMOLKV1"
constexpr std::uint64_t kVersion = 1;
// Copied between two steps of the engine.
constexpr std::size_t kBlocksAtOnce = 4;
constexpr std::size_t kUnflushedBytes = std::size_t{8} << 20U;

struct Header {
  std::uint64_t magic, version, fingerprint, kv_type, block_bytes, block_tokens, n_blocks;
};

constexpr std::size_t kHashBytes = sizeof(std::uint64_t);
constexpr std::size_t kTokenBytes = sizeof(BlockTokens);
constexpr std::size_t kPlaceBytes = sizeof(std::int64_t) + kTokenBytes;

static_assert(std::endian::native == std::endian::little);

// Finds accidents, not malice.
class Hash {
 public:
  // Requires whole words of eight bytes.
  void add(std::span<const std::byte> bytes) noexcept {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, sizeof(word));
      value_ = std::rotl((value_ ^ word) * 0x9E3779B97F4A7C15U, 29);
    }
  }

  std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0x243F6A8885A308D3U;
};

template <class T>
std::span<const std::byte> bytes_of(const T& value) noexcept {
  return std::as_bytes(std::span(&value, 1));
}

template <class T>
T from_bytes(std::span<const std::byte> bytes) noexcept {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

template <class T>
T read_value(const MappedFile& file, std::size_t offset) {
  std::array<std::byte, sizeof(T)> bytes{};
  file.read(offset, bytes);
  return from_bytes<T>(bytes);
}

void expect(const std::string& name, std::string_view what, std::uint64_t expected,
            std::uint64_t found) {
  if (expected != found) {
    throw Error(ErrorCode::BadInput, name + ": " + std::string(what) + ": expected " +
                                         std::to_string(expected) + ", found " +
                                         std::to_string(found));
  }
}

std::uint64_t hash_of(const MappedFile& file, std::size_t size_bytes) {
  constexpr std::size_t kChunk = 1 << 20;
  std::vector<std::byte> buffer(kChunk);
  Hash hash;
  for (std::size_t at = 0; at < size_bytes; at += kChunk) {
    const std::span<std::byte> part = std::span(buffer).first(std::min(kChunk, size_bytes - at));
    file.read(at, part);
    hash.add(part);
  }
  return hash.value();
}

// Whose prompts begin with these tokens; nobody's where no prompts are given.
std::vector<std::string> owners_of(std::span<const TokenId> tokens,
                                   const CacheFile::Prompts& prompts) {
  if (!prompts) {
    return {""};
  }
  std::vector<std::string> owners;
  for (const OwnedPrompt& prompt : *prompts) {
    if (std::ranges::mismatch(tokens, prompt.ids).in1 == tokens.end()) {
      owners.push_back(prompt.owner);
    }
  }
  return owners;
}

}  // namespace

CacheFile::CacheFile(model::Decoder& decoder, std::uint64_t model_fingerprint)
    : decoder_(decoder),
      fingerprint_(model_fingerprint),
      block_bytes_(model::kv_block_bytes(decoder.config(), decoder.options().kv_type)),
      entry_bytes_(kPlaceBytes + block_bytes_) {}

std::optional<std::size_t> CacheFile::save(const std::filesystem::path& path, const CacheWish& wish,
                                           KvSpace& space, const Call& call) const {
  OutputFile file(path, {.replace = true, .owner_only = true});
  std::vector<Entry> entries;
  call([&] { entries = hold(wish, space.cache()); });

  const auto release = [&] {
    call([&] {
      std::ranges::for_each(entries, [&](const Entry& entry) { decoder_.release(entry.block); });
    });
  };
  bool is_whole = false;
  try {
    is_whole = write(file, entries, wish, call);
    if (is_whole) {
      file.finish();
    }
  } catch (...) {
    release();
    throw;
  }
  release();
  return is_whole ? std::optional(entries.size() * model::kBlockTokens) : std::nullopt;
}

// Lists what is kept, parents first, with one more reference to each block.
std::vector<CacheFile::Entry> CacheFile::hold(const CacheWish& wish,
                                              const PrefixCache& cache) const {
  std::vector<const PrefixCache::Node*> nodes;
  for (const OwnedPrompt& prompt : wish.prompts) {
    const auto path = cache.find(prompt.ids);
    nodes.insert(nodes.end(), path.begin(), path.end());
  }
  if (wish.nobodys) {
    auto more = cache.all();
    std::erase_if(more, [](const auto* node) { return !node->owners.contains(""); });
    std::ranges::stable_sort(more, std::greater{}, &PrefixCache::Node::last_used);
    nodes.insert(nodes.end(), more.begin(), more.end());
  }
  constexpr std::size_t kFrame = sizeof(Header) + kHashBytes;
  const std::size_t most =
      (std::max(wish.max_bytes, kFrame) - kFrame) / entry_bytes_;  // parents stay: they come first
  std::map<const PrefixCache::Node*, std::int64_t> numbers{{&cache.root(), -1}};
  std::vector<Entry> entries;
  for (const PrefixCache::Node* node : nodes) {
    if (entries.size() == most) {
      break;
    }
    if (numbers.try_emplace(node, static_cast<std::int64_t>(entries.size())).second) {
      entries.push_back({{numbers.at(node->parent), node->tokens}, node->block});
      decoder_.retain(node->block);
    }
  }
  return entries;
}

// False: it is not to go on. What is written reaches the disk as it goes, so that the end does not
// wait for all of it.
bool CacheFile::write(OutputFile& file, std::span<const Entry> entries, const CacheWish& wish,
                      const Call& call) const {
  Hash hash;
  std::size_t n_unflushed = 0;
  const auto put = [&](std::span<const std::byte> bytes) {
    hash.add(bytes);
    file.write(bytes);
    n_unflushed += bytes.size();
  };
  const Header header{kMagic,        kVersion,
                      fingerprint_,  static_cast<std::uint64_t>(decoder_.options().kv_type),
                      block_bytes_,  model::kBlockTokens,
                      entries.size()};
  put(bytes_of(header));
  std::vector<std::byte> copies(kBlocksAtOnce * block_bytes_);
  const auto copy_of = [&](std::size_t i) {
    return std::span(copies).subspan(i * block_bytes_, block_bytes_);
  };
  for (std::size_t begin = 0; begin < entries.size(); begin += kBlocksAtOnce) {
    if (wish.goes_on && !wish.goes_on()) {
      return false;
    }
    const auto group = entries.subspan(begin, std::min(kBlocksAtOnce, entries.size() - begin));
    call([&] {
      for (std::size_t i = 0; i < group.size(); ++i) {
        decoder_.save_block(group[i].block, copy_of(i));
      }
    });
    for (std::size_t i = 0; i < group.size(); ++i) {
      put(bytes_of(group[i].place.parent));
      put(bytes_of(group[i].place.tokens));
      put(copy_of(i));
    }
    if (n_unflushed >= kUnflushedBytes) {
      file.flush();
      n_unflushed = 0;
    }
  }
  const std::uint64_t value = hash.value();
  file.write(bytes_of(value));
  return true;
}

std::size_t CacheFile::restore(const std::filesystem::path& path, const Prompts& prompts,
                               KvSpace& space, const Call& call) const {
  const MappedFile file(path);
  const std::size_t n_blocks = check(file, path.string());
  std::uint64_t now = 0;
  call([&] { now = space.tick(); });
  std::vector<Place> places;
  std::vector<std::byte> bytes(block_bytes_);
  std::size_t n_kept = 0;
  for (std::size_t i = 0; i < n_blocks; ++i) {
    places.push_back(read_place(file, i));
    const std::vector<TokenId> tokens = tokens_up_to(places, i);
    const std::vector<std::string> owners = owners_of(tokens, prompts);
    if (!owners.empty()) {
      file.read(sizeof(Header) + i * entry_bytes_ + kPlaceBytes, bytes);
      call([&] { n_kept += keep(tokens, bytes, owners, now, space) ? 1U : 0U; });
    }
  }
  return n_kept * model::kBlockTokens;
}

// Returns the number of blocks.
std::size_t CacheFile::check(const MappedFile& file, const std::string& name) const {
  const std::size_t size = file.bytes().size();
  if (size < sizeof(Header) + kHashBytes) {
    throw Error(ErrorCode::BadInput, name + ": expected at least " +
                                         std::to_string(sizeof(Header) + kHashBytes) +
                                         " bytes, found " + std::to_string(size));
  }
  const auto header = read_value<Header>(file, 0);
  expect(name, "magic number", kMagic, header.magic);
  expect(name, "version", kVersion, header.version);
  expect(name, "fingerprint of the model", fingerprint_, header.fingerprint);
  expect(name, "type of the key/value cache",
         static_cast<std::uint64_t>(decoder_.options().kv_type), header.kv_type);
  expect(name, "bytes of a block", block_bytes_, header.block_bytes);
  expect(name, "tokens of a block", model::kBlockTokens, header.block_tokens);
  const std::size_t most = (size - sizeof(Header) - kHashBytes) / entry_bytes_;
  expect(name, "blocks", most, header.n_blocks);
  const std::size_t hashed = sizeof(Header) + most * entry_bytes_;
  expect(name, "bytes", hashed + kHashBytes, size);
  expect(name, "hash", hash_of(file, hashed), read_value<std::uint64_t>(file, hashed));

  for (std::size_t i = 0; i < most; ++i) {
    check_place(read_place(file, i), i, name);
  }
  return most;
}

void CacheFile::check_place(const Place& place, std::size_t index, const std::string& name) const {
  const std::string block = name + ": block " + std::to_string(index);
  if (place.parent < -1 || place.parent >= static_cast<std::int64_t>(index)) {
    throw Error(ErrorCode::BadInput, block + ": expected an earlier block as parent, found " +
                                         std::to_string(place.parent));
  }
  const auto vocab_size = static_cast<std::int64_t>(decoder_.config().vocab_size);
  for (const TokenId id : place.tokens) {
    if (id < 0 || id >= vocab_size) {
      throw Error(ErrorCode::BadInput, block + ": expected token ids below " +
                                           std::to_string(vocab_size) + ", found " +
                                           std::to_string(id));
    }
  }
}

CacheFile::Place CacheFile::read_place(const MappedFile& file, std::size_t index) const {
  const std::size_t offset = sizeof(Header) + index * entry_bytes_;
  return {read_value<std::int64_t>(file, offset),
          read_value<BlockTokens>(file, offset + sizeof(std::int64_t))};
}

// All tokens from the first block of the path on.
std::vector<TokenId> CacheFile::tokens_up_to(std::span<const Place> places, std::size_t index) {
  std::vector<const Place*> path;
  for (auto at = static_cast<std::int64_t>(index); at >= 0;
       at = places[static_cast<std::size_t>(at)].parent) {
    path.push_back(&places[static_cast<std::size_t>(at)]);
  }
  std::vector<TokenId> tokens;
  for (auto place = path.rbegin(); place != path.rend(); ++place) {
    tokens.insert(tokens.end(), (*place)->tokens.begin(), (*place)->tokens.end());
  }
  return tokens;
}

// False: there is no room, or none was for the blocks before.
bool CacheFile::keep(std::span<const TokenId> tokens, std::span<const std::byte> bytes,
                     const std::vector<std::string>& owners, std::uint64_t now,
                     KvSpace& space) const {
  const std::optional<model::BlockId> block = decoder_.load_block(bytes);
  if (!block) {
    return false;
  }
  PrefixCache::Node* const node = space.cache().insert_path(tokens, *block, now);
  decoder_.release(*block);
  if (node != nullptr) {
    node->owners.insert(owners.begin(), owners.end());
  }
  return node != nullptr;
}

}  // namespace smol::engine
