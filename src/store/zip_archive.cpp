#include "store/zip_archive.h"

#include <cstdint>
#include <optional>
#include <zlib.h>

#include "base/error.h"

namespace smol::store {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryEntry = 0x02014b50;
constexpr std::uint32_t kDirectoryEnd = 0x06054b50;
constexpr std::size_t kLocalSize = 30;
constexpr std::size_t kEntrySize = 46;
constexpr std::size_t kEndSize = 22;

[[noreturn]] void refuse(const std::string& expected, const std::string& found) {
  throw Error(ErrorCode::BadInput, "ZIP archive: expected " + expected + ", found " + found);
}

// `count` little-endian bytes at `at`, which must be inside.
std::uint32_t number(std::string_view bytes, std::size_t at, std::size_t count) {
  if (at > bytes.size() || count > bytes.size() - at) {
    refuse("a whole archive", "one that ends early");
  }
  std::uint32_t value = 0;
  for (std::size_t i = count; i > 0; --i) {
    value = value << 8U | static_cast<unsigned char>(bytes[at + i - 1]);
  }
  return value;
}

std::string_view slice(std::string_view bytes, std::size_t at, std::size_t count) {
  if (at > bytes.size() || count > bytes.size() - at) {
    refuse("a whole archive", "one that ends early");
  }
  return bytes.substr(at, count);
}

// Where the directory's end record stands: it is the last, but for a comment of at most 64 KiB.
std::size_t find_end(std::string_view bytes) {
  constexpr std::size_t kMostComment = 65535;
  if (bytes.size() >= kEndSize) {
    std::size_t at = bytes.size() - kEndSize;
    for (std::size_t tried = 0; tried <= kMostComment; ++tried, --at) {
      if (number(bytes, at, 4) == kDirectoryEnd) {
        return at;
      }
      if (at == 0) {
        break;
      }
    }
  }
  refuse("a directory at the end", "none");
}

struct Listed {
  std::string name;
  std::uint32_t method = 0;
  std::uint32_t packed = 0, unpacked = 0, checksum = 0, local_at = 0;
};

Listed read_listed(std::string_view bytes, std::size_t at) {
  if (number(bytes, at, 4) != kDirectoryEntry) {
    refuse("a file's entry in the directory", "something else");
  }
  if ((number(bytes, at + 8, 2) & 1U) != 0) {
    refuse("files that are not encrypted", "an encrypted one");
  }
  Listed listed;
  listed.method = number(bytes, at + 10, 2);
  listed.checksum = number(bytes, at + 16, 4);
  listed.packed = number(bytes, at + 20, 4);
  listed.unpacked = number(bytes, at + 24, 4);
  listed.local_at = number(bytes, at + 42, 4);
  listed.name = slice(bytes, at + kEntrySize, number(bytes, at + 28, 2));
  return listed;
}

// Exactly `size` bytes, or nothing.
std::optional<std::string> inflated(std::string_view packed, std::size_t size) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
    throw Error(ErrorCode::Exhausted, "ZIP archive: no memory to unpack it");
  }
  std::string out(size, '\0');
  // zlib's interface has no const, but does not write there.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(size);
  const int result = inflate(&stream, Z_FINISH);
  const bool whole = result == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return whole ? std::optional(std::move(out)) : std::nullopt;
}

std::string content_of(std::string_view bytes, const Listed& listed) {
  if (number(bytes, listed.local_at, 4) != kLocalHeader) {
    refuse("the file " + listed.name, "something else");
  }
  const std::size_t names =
      number(bytes, listed.local_at + 26, 2) + number(bytes, listed.local_at + 28, 2);
  const std::string_view packed = slice(bytes, listed.local_at + kLocalSize + names, listed.packed);
  std::optional<std::string> content;
  if (listed.method == 0 && listed.packed == listed.unpacked) {
    content = std::string(packed);
  } else if (listed.method == Z_DEFLATED) {
    content = inflated(packed, listed.unpacked);
  }
  if (!content || crc32_z(0, reinterpret_cast<const Bytef*>(content->data()), content->size()) !=
                      listed.checksum) {
    refuse(listed.name + " to be stored or deflated, whole", "something else");
  }
  return *std::move(content);
}

}  // namespace

bool is_zip(std::string_view bytes) noexcept {
  return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06");
}

std::vector<ZipEntry> read_zip(std::string_view bytes, std::string_view ending,
                               std::size_t most_bytes) {
  const std::size_t end = find_end(bytes);
  const std::uint32_t count = number(bytes, end + 10, 2);
  std::size_t at = number(bytes, end + 16, 4);
  std::size_t total = 0;
  std::vector<ZipEntry> entries;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Listed listed = read_listed(bytes, at);
    at += kEntrySize + listed.name.size() + number(bytes, at + 30, 2) + number(bytes, at + 32, 2);
    if (!listed.name.ends_with(ending)) {
      continue;
    }
    total += listed.unpacked;
    if (total > most_bytes) {
      refuse("at most " + std::to_string(most_bytes) + " bytes unpacked", "more");
    }
    entries.push_back({listed.name, content_of(bytes, listed)});
  }
  return entries;
}

}  // namespace smol::store
