#include "app/data_folder.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/output_file.h"

namespace smol::app {

namespace {

constexpr mode_t kOwnerEnters = 0700, kOwnerReads = 0600;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& found) {
  throw Error{ErrorCode::Io, fmt::format("--data-dir: {}: expected a folder that this server alone "
                                         "may write to, found {}",
                                         path.string(), found)};
}

[[noreturn]] void refuse(const std::filesystem::path& path, int error) {
  refuse(path, std::generic_category().message(error));
}

void make(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) {
    refuse(path, error.message());
  }
  if (::mkdir(path.c_str(), kOwnerEnters) != 0 && errno != EEXIST) {
    refuse(path, errno);
  }
}

int lock(const std::filesystem::path& path) {
  const std::filesystem::path file = path / "lock";
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerReads);
  if (descriptor < 0) {
    refuse(path, errno);
  }
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    ::close(descriptor);
    if (error == EWOULDBLOCK) {
      refuse(path, "another one that uses it");
    }
    refuse(path, error);
  }
  return descriptor;
}

}  // namespace

std::filesystem::path default_data_folder() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && *data != '\0') {
    return std::filesystem::path(data) / "smolbot";
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    throw Error{ErrorCode::NotFound,
                "--data-dir: expected it, or XDG_DATA_HOME or HOME in the environment, found none"};
  }
  return std::filesystem::path(home) / ".local/share/smolbot";
}

DataFolder::DataFolder(const std::filesystem::path& path)
    : path_(std::filesystem::absolute(path).lexically_normal()) {
  if (!path_.has_filename()) {
    path_ = path_.parent_path();  // "data/" is "data"
  }
  make(path_);
  lock_ = lock(path_);
  remove_unfinished_files(path_);
}

DataFolder::~DataFolder() {
  ::close(lock_);
}

}  // namespace smol::app
