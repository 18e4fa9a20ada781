#include "store/data_folder.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/error.h"

namespace smol::store {
namespace {

constexpr ::mode_t kFolderMode = 0700;
constexpr ::mode_t kFileMode = 0600;

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view what, int error) {
  throw Error(ErrorCode::Io,
              path.string() + ": " + std::string(what) + " (" + std::strerror(error) + ")");
}

void make_folder(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), kFolderMode) == 0 || errno == EEXIST) {
    return;
  }
  if (errno != ENOENT || !path.has_parent_path()) {
    fail(path, "the folder cannot be made", errno);
  }
  make_folder(path.parent_path());
  if (::mkdir(path.c_str(), kFolderMode) != 0 && errno != EEXIST) {
    fail(path, "the folder cannot be made", errno);
  }
}

// Its descriptor; the file is there with mode 0600 whatever the umask says.
int open_private(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kFileMode);
  if (descriptor < 0) {
    fail(file, "cannot be opened for writing", errno);
  }
  if (::fchmod(descriptor, kFileMode) != 0) {
    const int error = errno;
    ::close(descriptor);
    fail(file, "its mode cannot be set to 0600", error);
  }
  return descriptor;
}

}  // namespace

DataFolder::DataFolder(std::filesystem::path path) : path_(std::move(path)) {
  // "data/" has an empty last component, which cannot be made.
  if (!path_.has_filename() && path_.has_parent_path()) {
    path_ = path_.parent_path();
  }
  make_folder(path_);
  lock_ = open_private(path_ / "lock");
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    ::close(lock_);
    if (error == EWOULDBLOCK) {
      throw Error(ErrorCode::Io, path_.string() +
                                     ": expected a data folder of our own, found one that another "
                                     "smolbot is using");
    }
    fail(path_ / "lock", "cannot be locked", error);
  }
}

DataFolder::~DataFolder() {
  ::close(lock_);
}

std::filesystem::path DataFolder::private_file(std::string_view name) const {
  std::filesystem::path file = path_ / name;
  ::close(open_private(file));
  return file;
}

}  // namespace smol::store
