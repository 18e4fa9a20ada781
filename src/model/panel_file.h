// All matrices of a model on disk as they lie in memory, so that they need not be packed again.
// Little-endian: a header of one page, then the bytes. The header tells of what they were made;
// they have no checksum, which would take longer than to use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/mapped_file.h"

namespace smol::model {

// What the bytes follow from, besides this program.
struct PanelOrigin {
  std::uint64_t model_bytes = 0;  // of the model file
  std::int64_t modified_ns = 0;   // when that was written last
  std::uint64_t tensors = 0;      // hash of names, types, shapes and beginnings, in order
  std::uint64_t panel_bytes = 0;
};

// Immutable; any thread. The file may be replaced or removed meanwhile, but not cut short.
class PanelFile {
 public:
  // Throws Error{NotFound} if there is none, Error{Io} if it cannot be read, Error{BadInput} naming
  // what was expected and found if it is no panel file, not whole, or of another origin, version or
  // layout.
  PanelFile(const std::filesystem::path& path, const PanelOrigin& origin);

  // A file that is there whole or not at all. Replaces an earlier panel file and nothing else.
  // Throws Error{BadInput} for anything else there, Error{Io} if it cannot be written.
  static void write(const std::filesystem::path& path, const PanelOrigin& origin,
                    std::span<const std::byte> panels);

  // The mapping; valid while the PanelFile lives.
  [[nodiscard]] std::span<const std::byte> panels() const noexcept;

  // See MappedFile.
  void take_pages() const noexcept { file_.take_pages(); }

  void give_back_pages() const noexcept { file_.give_back_pages(); }

  // Copies panels from `offset` on without touching the mapping. Throws Error{Io}.
  void read(std::size_t offset, std::span<std::byte> out) const;

 private:
  MappedFile file_;
};

}  // namespace smol::model
