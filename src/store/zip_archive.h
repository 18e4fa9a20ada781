// Reads the files of a ZIP archive (PKWARE's APPNOTE 6.3: stored and deflated, no ZIP64, no
// encryption), as far as exports need it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace smol::store {

struct ZipEntry {
  std::string name;
  std::string content;
};

bool is_zip(std::string_view bytes) noexcept;

// The files whose name has that ending, in the directory's order. Throws Error{BadInput} for a
// damaged archive and where they come to more than `most_bytes` unpacked.
std::vector<ZipEntry> read_zip(std::string_view bytes, std::string_view ending,
                               std::size_t most_bytes);

}  // namespace smol::store
