// Where the server keeps what outlives it. Only its owner may enter the folder, and one server at
// a time uses it.
#pragma once

#include <filesystem>

namespace smol::app {

// The XDG Base Directory Specification's place for data: smolbot in $XDG_DATA_HOME or
// ~/.local/share. Throws Error{NotFound} where the environment names neither.
std::filesystem::path default_data_folder();

class DataFolder {
 public:
  // Made if it is missing; what a killed server had not finished there goes. Throws Error{Io},
  // naming --data-dir, where that fails, where it cannot be written, or where another server has
  // it.
  explicit DataFolder(const std::filesystem::path& path);
  ~DataFolder();
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace smol::app
