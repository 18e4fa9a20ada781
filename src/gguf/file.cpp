#include "gguf/file.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "gguf/alignment.h"
#include "gguf/cursor.h"
#include "gguf/printable.h"
#include "gguf/read_metadata.h"
#include "gguf/read_tensors.h"

namespace smol::gguf {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr std::uint32_t kOldestVersion = 2;
constexpr std::uint32_t kNewestVersion = 3;
// Key length, one byte of key, value type, one byte of value.
constexpr std::size_t kLeastPairBytes = 8 + 1 + 4 + 1;
// Name length, one byte of name, axis count, one axis, type, offset.
constexpr std::size_t kLeastTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;

void check_magic(Cursor& cursor) {
  std::string magic;
  for (std::size_t i = 0; i < kMagic.size(); ++i) {
    magic += cursor.read<char>("magic");
  }
  if (magic != kMagic) {
    cursor.fail("magic", "\"GGUF\"", "\"" + printable(magic) + "\" (this is no GGUF file)");
  }
}

std::uint32_t read_version(Cursor& cursor) {
  const auto version = cursor.read<std::uint32_t>("version");
  if (version >= kOldestVersion && version <= kNewestVersion) {
    return version;
  }
  const std::uint32_t swapped = __builtin_bswap32(version);
  const bool big_endian = swapped >= 1 && swapped <= kNewestVersion;
  throw Error(ErrorCode::Unsupported,
              cursor.file_name() + ": version: expected 2 or 3, found " +
                  (big_endian ? std::to_string(swapped) + " in a big-endian file (only " +
                                    "little-endian files are supported)"
                              : std::to_string(version)));
}

// Offset of the data section. A file without tensors may end before it.
std::size_t data_start(const Cursor& cursor, std::uint64_t alignment, std::size_t n_tensors) {
  const std::uint64_t position = cursor.position();
  const std::uint64_t padding = padding_after(position, alignment);
  if (padding > cursor.left()) {
    if (n_tensors > 0) {
      cursor.fail("tensor data", "it to start at offset " + std::to_string(position + padding),
                  "the end of the file at " + std::to_string(position + cursor.left()));
    }
    return position + cursor.left();
  }
  return position + padding;
}

}  // namespace

struct File::Contents {
  std::optional<MappedFile> mapping;
  std::string name;
  std::size_t size_bytes = 0;
  std::uint32_t version = 0;
  std::uint64_t alignment = 0;
  Metadata metadata;
  std::vector<TensorView> tensors;
  std::vector<std::size_t> by_name;  // indices of tensors

  void read(std::span<const std::byte> bytes);
};

void File::Contents::read(std::span<const std::byte> bytes) {
  size_bytes = bytes.size();
  Cursor cursor(bytes, name);
  check_magic(cursor);
  version = read_version(cursor);
  const std::size_t n_tensors = cursor.read_count(kLeastTensorBytes, "tensor count");
  const std::size_t n_pairs = cursor.read_count(kLeastPairBytes, "metadata count");
  metadata = Metadata(read_metadata(cursor, n_pairs), name);
  alignment = alignment_of(metadata);
  std::vector<TensorInfo> infos = read_tensor_infos(cursor, n_tensors, alignment);
  by_name = index_by_name(cursor, infos);
  tensors = place_tensors(cursor, infos, bytes.subspan(data_start(cursor, alignment, n_tensors)));
}

File File::open(const std::filesystem::path& path) {
  auto contents = std::make_unique<Contents>();
  contents->name = path.string();
  contents->mapping.emplace(path);
  if (contents->mapping->bytes().empty()) {
    throw Error(ErrorCode::BadInput, contents->name + ": expected a GGUF file, found an empty one");
  }
  contents->read(contents->mapping->bytes());
  return File(std::move(contents));
}

File File::parse(std::span<const std::byte> bytes, std::string_view name) {
  auto contents = std::make_unique<Contents>();
  contents->name = std::string(name);
  contents->read(bytes);
  return File(std::move(contents));
}

File::File(std::unique_ptr<const Contents> contents) : contents_(std::move(contents)) {}

File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;
File::~File() = default;

std::string_view File::name() const noexcept {
  return contents_->name;
}

std::uint32_t File::version() const noexcept {
  return contents_->version;
}

std::uint64_t File::alignment() const noexcept {
  return contents_->alignment;
}

std::uint64_t File::size_bytes() const noexcept {
  return contents_->size_bytes;
}

std::int64_t File::modified_ns() const noexcept {
  return contents_->mapping ? contents_->mapping->modified_ns() : 0;
}

const Metadata& File::metadata() const noexcept {
  return contents_->metadata;
}

std::span<const TensorView> File::tensors() const noexcept {
  return contents_->tensors;
}

const TensorView* File::find(std::string_view tensor_name) const noexcept {
  const std::vector<TensorView>& tensors = contents_->tensors;
  const auto found = std::lower_bound(
      contents_->by_name.begin(), contents_->by_name.end(), tensor_name,
      [&](std::size_t index, std::string_view wanted) { return tensors[index].name < wanted; });
  const bool is_there = found != contents_->by_name.end() && tensors[*found].name == tensor_name;
  return is_there ? &tensors[*found] : nullptr;
}

const TensorView& File::tensor(std::string_view tensor_name) const {
  const TensorView* found = find(tensor_name);
  if (found == nullptr) {
    throw Error(ErrorCode::BadInput, contents_->name + ": tensor \"" + std::string(tensor_name) +
                                         "\": expected in the file, found none");
  }
  return *found;
}

void File::read(const TensorView& tensor, std::size_t offset, std::span<std::byte> out) const {
  const std::byte* from = tensor.bytes.data() + offset;
  if (!contents_->mapping) {
    std::copy_n(from, out.size(), out.data());
    return;
  }
  const std::byte* start = contents_->mapping->bytes().data();
  contents_->mapping->read(static_cast<std::size_t>(from - start), out);
}

}  // namespace smol::gguf
