// The prefix cache on disk. Little-endian: magic, version, then as 64-bit words the model's
// fingerprint, type of the key/value cache, bytes and tokens of a block, and the number of blocks;
// of each block its parent (an earlier block's number, or -1), its 64 ids, its bytes; last a hash
// of all before. The size follows from the header, so a file cut anywhere is known as such.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "engine/cached_prompts.h"
#include "engine/kv_space.h"
#include "model/decoder.h"

namespace smol::engine {

class CacheFile {
 public:
  // Runs what touches decoder and space where that is allowed, and waits for it.
  using Call = std::function<void(const std::function<void()>&)>;

  CacheFile(model::Decoder& decoder, std::uint64_t model_fingerprint);

  using Prompts = std::optional<std::span<const OwnedPrompt>>;

  // As Engine::save_cache() and restore_cache(). The caller's thread reads and writes the file.
  std::optional<std::size_t> save(const std::filesystem::path& path, const CacheWish& wish,
                                  KvSpace& space, const Call& call) const;
  std::size_t restore(const std::filesystem::path& path, const Prompts& prompts, KvSpace& space,
                      const Call& call) const;

 private:
  // Where a block stands in the tree.
  struct Place {
    std::int64_t parent;  // an earlier block, or -1
    BlockTokens tokens;
  };

  struct Entry {
    Place place;
    model::BlockId block;
  };

  std::vector<Entry> hold(const CacheWish& wish, const PrefixCache& cache) const;
  bool write(OutputFile& file, std::span<const Entry> entries, const CacheWish& wish,
             const Call& call) const;
  std::size_t check(const MappedFile& file, const std::string& name) const;
  void check_place(const Place& place, std::size_t index, const std::string& name) const;
  Place read_place(const MappedFile& file, std::size_t index) const;
  static std::vector<TokenId> tokens_up_to(std::span<const Place> places, std::size_t index);
  bool keep(std::span<const TokenId> tokens, std::span<const std::byte> bytes,
            const std::vector<std::string>& owners, std::uint64_t now, KvSpace& space) const;

  model::Decoder& decoder_;
  std::uint64_t fingerprint_;
  std::size_t block_bytes_, entry_bytes_;
};

}  // namespace smol::engine
