// The folder that holds what must outlive the program. One process at a time.
#pragma once

#include <filesystem>
#include <string_view>

namespace smol::store {

class DataFolder {
 public:
  // Makes the folder (mode 0700, with its parents) if there is none, and locks it until destroyed.
  // Throws Error{Io} if it cannot be made, read or written, or if another process has locked it.
  explicit DataFolder(std::filesystem::path path);
  ~DataFolder();
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;
  DataFolder(DataFolder&&) = delete;
  DataFolder& operator=(DataFolder&&) = delete;

  // The path of the file `name` in it, which is there afterwards (empty if it was not), mode 0600.
  // Throws Error{Io}.
  std::filesystem::path private_file(std::string_view name) const;

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace smol::store
