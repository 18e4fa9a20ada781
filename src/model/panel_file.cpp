#include "model/panel_file.h"

#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/output_file.h"
#include "kernels/panel.h"
#include "model/fnv.h"

namespace smol::model {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kHeaderBytes = 4096;
constexpr std::uint64_t kMagic = 0x4C454E41504C4D53U;  // "SMLPANEL"
constexpr std::uint64_t kVersion = 1;

struct Header {
  std::uint64_t magic = kMagic, version = kVersion, layout = kernels::kPanelLayout;
  PanelOrigin origin;
  std::array<std::byte, 4032> zeros{};
  std::uint64_t checksum = 0;  // of all before
};

static_assert(sizeof(Header) == kHeaderBytes);

std::uint64_t checksum_of(const Header& header) noexcept {
  Fnv hash;
  hash.add(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, checksum)));
  return hash.value();
}

// Nothing where the file is too short.
std::optional<Header> header_of(const MappedFile& file) {
  if (file.bytes().size() < kHeaderBytes) {
    return std::nullopt;
  }
  Header header;
  file.read(0, std::as_writable_bytes(std::span(&header, 1)));
  return header;
}

template <class Number>
void expect(const std::string& name, std::string_view what, Number expected, Number found) {
  if (expected != found) {
    throw Error(ErrorCode::BadInput, name + ": " + std::string(what) + ": expected " +
                                         std::to_string(expected) + ", found " +
                                         std::to_string(found));
  }
}

[[noreturn]] void fail_as_foreign(const std::string& name) {
  throw Error(ErrorCode::BadInput, name + ": expected a panel file, found another");
}

void check(const MappedFile& file, const std::string& name, const PanelOrigin& origin) {
  const std::optional<Header> header = header_of(file);
  if (!header || header->magic != kMagic) {
    fail_as_foreign(name);
  }
  expect(name, "checksum of the header", checksum_of(*header), header->checksum);
  expect(name, "version", kVersion, header->version);
  expect(name, "layout of the panels", std::uint64_t{kernels::kPanelLayout}, header->layout);
  const PanelOrigin& found = header->origin;
  expect(name, "bytes of the model file", origin.model_bytes, found.model_bytes);
  expect(name, "time of the model file", origin.modified_ns, found.modified_ns);
  expect(name, "hash of the model's tensors", origin.tensors, found.tensors);
  expect(name, "bytes of the panels", origin.panel_bytes, found.panel_bytes);
  expect(name, "bytes", kHeaderBytes + origin.panel_bytes, std::uint64_t{file.bytes().size()});
}

}  // namespace

PanelFile::PanelFile(const fs::path& path, const PanelOrigin& origin) : file_(path) {
  check(file_, path.string(), origin);
}

void PanelFile::write(const fs::path& path, const PanelOrigin& origin,
                      std::span<const std::byte> panels) {
  OutputFile out(path, {.replace = true});
  if (fs::exists(path)) {
    const std::optional<Header> header = header_of(MappedFile(path));
    if (!header || header->magic != kMagic) {
      fail_as_foreign(path.string());
    }
  }
  Header header{.origin = origin};
  header.checksum = checksum_of(header);
  out.write(std::as_bytes(std::span(&header, 1)));
  // In one piece: what is written 2 MiB at a time or more may stay in the page cache on huge pages.
  out.write(panels);
  out.finish();
}

std::span<const std::byte> PanelFile::panels() const noexcept {
  return file_.bytes().subspan(kHeaderBytes);
}

void PanelFile::read(std::size_t offset, std::span<std::byte> out) const {
  file_.read(kHeaderBytes + offset, out);
}

}  // namespace smol::model
